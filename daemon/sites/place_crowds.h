// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

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

  // Adds `samples` waits of the member that the thread `waker_tid` of its process ended. That
  // thread need not wait there.
  void add_wakeups(const Member& of, std::uint32_t waker_tid, std::uint32_t samples);

  // Whether a lock seems to be handed over there: members of the crowd wake each other in both
  // directions, and one and the same thread that does not wait there wakes several of them at
  // times. In a chain of queues, that thread wakes the first member only. A pool whose idle threads
  // pass jobs on looks the same, so this is for places where rules ask for `handover`.
  [[nodiscard]] bool hands_over(const Member& member) const;
  // Whether this thread, which does not wait there, woke several members of that crowd.
  [[nodiscard]] bool hands_out(const Member& member, std::uint32_t tid) const;

  // Whether a thread of this member's crowd may have held a lock. Whoever holds it does not wait
  // there. So the time that all threads of the crowd together spent elsewhere must be at least 0.8
  // of the time that one of them waited on average, within two standard errors.
  [[nodiscard]] bool may_hold(const Member& member, std::chrono::nanoseconds window) const;

  void clear();

 private:
  struct Crowd {
    Member joined;  // another member of the same crowd; itself: it has the sums of all
    std::size_t threads = 1;
    double waited_ns = 0, variance_ns2 = 0;
    std::uint32_t took = 0, gave = 0;  // wakeups of this member by others, and of others by it
  };
  using Members = std::map<Member, Crowd>;
  struct Outside {
    Member of;  // the first of a crowd
    std::uint32_t tid = 0;

    friend bool operator<(const Outside& a, const Outside& b) {
      return std::tie(a.of, a.tid) < std::tie(b.of, b.tid);
    }
  };
  void settle() const;

  [[nodiscard]] Members::const_iterator first_of(Members::const_iterator member) const;

  Members members_;
  // Wakeups of members by threads that do not wait there.
  std::map<std::pair<Member, std::uint32_t>, std::uint32_t> from_outside_;
  // Counted when first asked for: how many members of a crowd such a thread woke, and how many
  // members were woken by others of the crowd and also woke others of it.
  mutable bool settled_ = false;
  mutable std::map<Outside, std::uint32_t> woken_by_;
  mutable std::map<Member, std::uint32_t> passing_;
};

}  // namespace offcpud
