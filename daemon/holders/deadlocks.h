// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "holders/lock_holder.h"

namespace offcpud {

// Threads of which each waits for a lock that the next one holds, and the last one for one of the
// first. None of them can go on. Begins with the smallest tid.
using Deadlock = std::vector<HeldWait>;

// Finds deadlocks. One look reads who waits and who holds at different moments, and may put
// together a circle that never was; so a deadlock is told when a second look finds the same waits,
// which have lasted meanwhile. Only threads are in one: any thread of a process may free its file
// locks. Used by one thread.
class Deadlocks {
 public:
  // Call it with each look; returns the deadlocks that the last two agree on, by first thread.
  std::vector<Deadlock> update(std::span<const HeldWait> look);

 private:
  using Edge = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;  // tid, since, holder
  std::set<Edge> last_;
};

}  // namespace offcpud
