// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "holders/lock_holder.h"

namespace offcpud {

// A circle of threads: each waits for a lock that the next one holds, and the last for one that the
// first holds. None of them can go on. Begins with the smallest tid.
using Deadlock = std::vector<HeldWait>;

// Finds deadlocks. One look reads who waits and who holds at different moments, and may see a
// circle that never was. So a deadlock is told when a second look finds the same waits with the
// same holders. File locks are left out, because any thread of a process may free them. Used by one
// thread.
class Deadlocks {
 public:
  // Call it with each look; returns the deadlocks on which the last two looks agree, by first
  // thread.
  std::vector<Deadlock> update(std::span<const HeldWait> look);

 private:
  using Edge = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;  // tid, since, holder
  std::set<Edge> last_;
};

}  // namespace offcpud
