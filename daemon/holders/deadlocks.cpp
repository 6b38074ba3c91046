// SPDX-License-Identifier: Apache-2.0
#include "holders/deadlocks.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace offcpud {
namespace {

using Waiters = std::unordered_map<std::uint32_t, const HeldWait*>;  // by their tid

// The circle that contains this thread; empty: there is none. `done` grows by the threads passed,
// which no later call needs to pass again.
Deadlock circle_from(const HeldWait& start, const Waiters& waiters,
                     std::unordered_map<std::uint32_t, std::uint32_t>& done) {
  std::vector<const HeldWait*> path;
  for (const HeldWait* at = &start; at != nullptr;) {
    const auto [known, is_new] = done.try_emplace(at->tid, start.tid);
    if (!is_new) {
      if (known->second != start.tid) return {};
      const auto begin = std::ranges::find(path, at->tid, &HeldWait::tid);
      Deadlock circle;
      for (auto each = begin; each != path.end(); ++each) circle.push_back(**each);
      return circle;
    }
    path.push_back(at);
    const auto next = waiters.find(at->holder->tid);
    at = next == waiters.end() ? nullptr : next->second;
  }
  return {};
}

}  // namespace

std::vector<Deadlock> Deadlocks::update(std::span<const HeldWait> look) {
  std::set<Edge> edges;
  Waiters waiters;
  for (const HeldWait& each : look) {
    if (!each.holder->is_thread()) continue;
    Edge edge(each.tid, each.since_ns, each.holder->tid);
    if (last_.contains(edge)) waiters.try_emplace(each.tid, &each);
    edges.insert(std::move(edge));
  }
  last_ = std::move(edges);

  std::vector<Deadlock> found;
  std::unordered_map<std::uint32_t, std::uint32_t> done;  // by thread, who passed it
  for (const auto& [tid, waiter] : waiters) {
    Deadlock circle = circle_from(*waiter, waiters, done);
    if (circle.empty()) continue;
    std::rotate(circle.begin(), std::ranges::min_element(circle, {}, &HeldWait::tid), circle.end());
    found.push_back(std::move(circle));
  }
  std::ranges::sort(found, {}, [](const Deadlock& each) { return each.front().tid; });
  return found;
}

}  // namespace offcpud
