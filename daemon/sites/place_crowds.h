// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "base/clock.h"

namespace offcpud {

// Threads of a process that wake each other at one place within a window, which tells a lock from a
// pool of idle threads (whoever takes the first of several jobs wakes the next, as Java's queues
// do). While somebody waits for a lock, one of those who take it does not wait there: he holds it.
// Threads of an idle pool wait there nearly always. One stack may be of several locks and pools,
// so only those count together that wake each other. Used by one thread.
class PlaceCrowds {
 public:
  struct Member {
    std::uint32_t tgid = 0, tid = 0;
    std::uint64_t place = 0;

    friend bool operator==(const Member&, const Member&) = default;
    friend bool operator<(const Member& a, const Member& b) {
      return std::tie(a.tgid, a.place, a.tid) < std::tie(b.tgid, b.place, b.tid);
    }
  };

  // A wait at the place, as far as it was within the window, and the variance of this estimate.
  void add(const Member& member, double ns, double variance_ns2);
  // One woke the other. Of threads that were not added it says nothing.
  void join(const Member& one, const Member& other);

  [[nodiscard]] bool has(const Member& member) const { return members_.contains(member); }

  // Whether this one and those that it woke or was woken by may have been elsewhere, all together,
  // for most of the time for which one of them waited on average: within two standard errors.
  [[nodiscard]] bool may_hold(const Member& member, std::chrono::nanoseconds window) const;

  void clear() { members_.clear(); }

 private:
  struct Crowd {
    Member joined;  // another member of the same crowd, or the member itself, which has the sums
    std::size_t threads = 1;
    double waited_ns = 0, variance_ns2 = 0;
  };
  using Members = std::map<Member, Crowd>;

  [[nodiscard]] Members::const_iterator first_of(Members::const_iterator member) const;

  Members members_;
};

}  // namespace offcpud
