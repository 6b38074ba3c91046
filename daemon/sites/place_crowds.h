// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/clock.h"

namespace offcpud {

// All threads of a process that waited at one place within a window, which tells a lock from a pool
// of idle threads that wake each other (whoever takes the first of several jobs wakes the next, as
// Java's queues do). While somebody waits for a lock, one of those who take it does not wait there:
// he holds it. Threads of an idle pool wait there nearly always. Used by one thread.
class PlaceCrowds {
 public:
  // A wait at the place, as far as it was within the window.
  void add(std::uint32_t tgid, std::uint64_t place, std::uint32_t tid, double ns);

  // Whether those of the place were elsewhere, all together, for most of the time for which one of
  // them waited on average. Threads that are not known to have waited there count as elsewhere.
  [[nodiscard]] bool may_hold(std::uint32_t tgid, std::uint64_t place,
                              std::chrono::nanoseconds window) const;

  void clear() { crowds_.clear(); }

 private:
  struct Crowd {
    std::set<std::uint32_t> threads;
    double waited_ns = 0;  // of all of them
  };

  std::map<std::pair<std::uint32_t, std::uint64_t>, Crowd> crowds_;
};

}  // namespace offcpud
