// SPDX-License-Identifier: Apache-2.0
#include "symbols/load_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace offcpud {

std::chrono::nanoseconds LoadQueue::left(const Account& account, MonotonicTime now) const {
  const auto back = std::chrono::duration<double, std::nano>(now - account.since);
  const double sum = static_cast<double>(account.left.count()) + back.count() * limits_.per_second;
  const auto most = static_cast<double>(limits_.at_once.count());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(sum, most)));
}

LoadQueue::Account& LoadQueue::account(const ShareOwner& owner, MonotonicTime now) {
  const auto [found, is_new] = owners_.try_emplace(owner);
  if (is_new) {
    found->second.left = limits_.at_once;
    found->second.since = now;
  }
  return found->second;
}

std::optional<SymbolLoad> LoadQueue::push(SymbolLoad load, MonotonicTime now) {
  Account& mine = account(load.owner, now);
  mine.waiting.push_back(std::move(load));
  if (++size_ <= limits_.waiting) return std::nullopt;
  // Of several with as many it is this one, whose load came last.
  Account* most = &mine;
  for (auto& [owner, other] : owners_) {
    if (other.waiting.size() > most->waiting.size()) most = &other;
  }
  SymbolLoad given = std::move(most->waiting.back());
  most->waiting.pop_back();
  --size_;
  return given;
}

// The one with most time left; of those with as much, the one that waits longest for its turn.
LoadQueue::Accounts::iterator LoadQueue::find_next(const Wanted& wanted, MonotonicTime now) {
  const auto rank = [&](const Account& account) {
    return std::tuple(left(account, now), ~account.served);
  };
  auto best = owners_.end();
  for (auto it = owners_.begin(); it != owners_.end(); ++it) {
    const Account& account = it->second;
    if (account.waiting.empty() || left(account, now) <= std::chrono::nanoseconds(0)) continue;
    if (wanted && std::ranges::none_of(account.waiting, wanted, &SymbolLoad::id)) continue;
    if (best == owners_.end() || rank(account) > rank(best->second)) best = it;
  }
  return best;
}

std::optional<SymbolLoad> LoadQueue::take(const Wanted& wanted, MonotonicTime now) {
  auto next = find_next(wanted, now);
  const bool is_wanted = wanted && next != owners_.end();
  if (next == owners_.end() && wanted) next = find_next({}, now);
  if (next == owners_.end()) return std::nullopt;
  Account& account = next->second;
  account.served = ++served_;
  auto first = account.waiting.begin();
  if (is_wanted) first = std::ranges::find_if(account.waiting, wanted, &SymbolLoad::id);
  SymbolLoad load = std::move(*first);
  account.waiting.erase(first);
  --size_;
  return load;
}

void LoadQueue::charge(const ShareOwner& owner, std::chrono::nanoseconds cpu, MonotonicTime now) {
  Account& spent = account(owner, now);
  spent.left = left(spent, now) - cpu;
  spent.since = now;
  forget_idle(now);
}

// Who has nothing here, and all of his time, is as good as new.
void LoadQueue::forget_idle(MonotonicTime now) {
  std::erase_if(owners_, [&](const auto& entry) {
    return entry.second.waiting.empty() && left(entry.second, now) >= limits_.at_once;
  });
}

MonotonicTime LoadQueue::next_time(MonotonicTime now) const {
  MonotonicTime next = MonotonicTime::max();
  for (const auto& [owner, account] : owners_) {
    if (account.waiting.empty()) continue;
    const auto has = left(account, now);
    if (has > std::chrono::nanoseconds(0)) return now;
    const auto wait = std::chrono::duration<double, std::nano>(std::chrono::nanoseconds(1) - has).count();
    const std::chrono::nanoseconds until(
        static_cast<std::int64_t>(wait / limits_.per_second) + 1);
    next = std::min(next, now + until);
  }
  return next;
}

std::vector<SymbolLoad> LoadQueue::clear() {
  std::vector<SymbolLoad> all;
  for (auto& [owner, account] : owners_) {
    std::ranges::move(account.waiting, std::back_inserter(all));
  }
  owners_.clear();
  size_ = 0;
  return all;
}

}  // namespace offcpud
