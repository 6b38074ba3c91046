// SPDX-License-Identifier: Apache-2.0
#include "symbols/load_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace offcpud {

std::optional<SymbolLoad> LoadQueue::push(SymbolLoad load) {
  const auto mine = users_.try_emplace(load.owner).first;
  mine->second.loads.push_back(std::move(load));
  if (++size_ <= waiting_) return std::nullopt;
  // Among users with equally many it is this one, whose load came last.
  auto most = mine;
  for (auto it = users_.begin(); it != users_.end(); ++it) {
    if (it->second.loads.size() > most->second.loads.size()) most = it;
  }
  return remove(most, std::prev(most->second.loads.end()));
}

SymbolLoad LoadQueue::remove(Users::iterator user, const std::deque<SymbolLoad>::iterator& load) {
  SymbolLoad removed = std::move(*load);
  user->second.loads.erase(load);
  if (user->second.loads.empty()) users_.erase(user);
  --size_;
  return removed;
}

// The user with most time left; among equals, the one who was served longest ago.
LoadQueue::Users::iterator LoadQueue::find_next(const Wanted& wanted, MonotonicTime now) {
  auto best = users_.end();
  std::tuple<std::chrono::nanoseconds, std::uint64_t> most;
  for (auto it = users_.begin(); it != users_.end(); ++it) {
    const auto left = shares_.left(it->first, now);
    if (left <= std::chrono::nanoseconds(0)) continue;
    if (wanted && std::ranges::none_of(it->second.loads, wanted, &SymbolLoad::id)) continue;
    const std::tuple rank(left, ~it->second.served);
    if (best != users_.end() && rank <= most) continue;
    best = it;
    most = rank;
  }
  return best;
}

std::optional<SymbolLoad> LoadQueue::take(const Wanted& wanted, MonotonicTime now) {
  auto next = find_next(wanted, now);
  const bool is_wanted = wanted && next != users_.end();
  if (next == users_.end() && wanted) next = find_next({}, now);
  if (next == users_.end()) return std::nullopt;
  next->second.served = ++served_;
  auto first = next->second.loads.begin();
  if (is_wanted) first = std::ranges::find_if(next->second.loads, wanted, &SymbolLoad::id);
  return remove(next, first);
}

MonotonicTime LoadQueue::next_time(MonotonicTime now) const {
  MonotonicTime next = MonotonicTime::max();
  for (const auto& [owner, waiting] : users_) next = std::min(next, shares_.next_time(owner, now));
  return next;
}

std::vector<SymbolLoad> LoadQueue::clear() {
  std::vector<SymbolLoad> all;
  for (auto& [owner, waiting] : users_) std::ranges::move(waiting.loads, std::back_inserter(all));
  users_.clear();
  size_ = 0;
  return all;
}

}  // namespace offcpud
