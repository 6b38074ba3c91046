// SPDX-License-Identifier: Apache-2.0
#include "sampler/entry_turns.h"

#include <algorithm>

namespace offcpud {

void EntryTurns::push(Entry entry) {
  if (entries_.contains(entry.tgid)) return;
  if (entry.order == 0) entry.order = ++last_;
  const auto [user, is_new] = users_.try_emplace(entry.user);
  // A new user comes after those who wait.
  if (is_new) user->second.served = ++last_;
  user->second.by_size.emplace(entry.left, entry.tgid);
  user->second.by_order.emplace(entry.order, entry.tgid);
  entries_.emplace(entry.tgid, entry);
}

std::optional<EntryTurns::Entry> EntryTurns::pop() {
  const auto next =
      std::ranges::min_element(users_, {}, [](const auto& user) { return user.second.served; });
  if (next == users_.end()) return std::nullopt;
  Waiting& waiting = next->second;
  waiting.served = ++last_;
  const bool oldest = std::exchange(waiting.oldest_is_next, !waiting.oldest_is_next);
  const Entry entry =
      entries_.at(oldest ? waiting.by_order.begin()->second : waiting.by_size.begin()->second);
  erase(entry.tgid);
  return entry;
}

void EntryTurns::lower(std::uint32_t tgid, std::uint64_t from) {
  const auto entry = entries_.find(tgid);
  if (entry != entries_.end()) entry->second.from = std::min(entry->second.from, from);
}

void EntryTurns::erase(std::uint32_t tgid) {
  const auto entry = entries_.find(tgid);
  if (entry == entries_.end()) return;
  const auto user = users_.find(entry->second.user);
  user->second.by_size.erase({entry->second.left, tgid});
  user->second.by_order.erase(entry->second.order);
  if (user->second.by_order.empty()) users_.erase(user);
  entries_.erase(entry);
}

}  // namespace offcpud
