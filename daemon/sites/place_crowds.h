// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "base/clock.h"

namespace offcpud {

// Tells a lock from a pool of idle threads, by the threads of a process that wake each other at one
// place within a window. In a pool, too, threads wake each other: whoever takes the first of
// several jobs wakes the next, as in Java's queues. But while somebody waits for a lock, one thread
// holds it and does not wait there, whereas threads of an idle pool nearly always wait. One stack
// may belong to several locks and pools, so a crowd has only threads that wake each other. Used by
// one thread.
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

  // Adds the part of a wait at the place that was within the window, and its variance.
  void add(const Member& member, double ns, double variance_ns2);
  // One woke the other. Ignored unless both were added.
  void join(const Member& one, const Member& other);

  [[nodiscard]] bool has(const Member& member) const { return members_.contains(member); }

  // Whether somebody of this member's crowd may have held a lock: whether all its threads together
  // were elsewhere for most of the time that one of them waited on average, within two standard
  // errors.
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
