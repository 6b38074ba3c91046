// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "offcpud.h"
#include "pipeline/reading_source.h"
#include "pipeline/thread_record.h"

namespace offcpud {

// Identifies a process among all that have or had its pid.
struct ProcessIdentity {
  std::uint32_t tgid = 0;      // in the initial PID namespace
  std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME at which its leader started

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
  friend bool operator<(const ProcessIdentity& a, const ProcessIdentity& b) {
    return a.tgid != b.tgid ? a.tgid < b.tgid : a.start_ns < b.start_ns;
  }
};

inline ProcessIdentity process_of(const offcpud_thread& thread) {
  return {thread.tgid, thread.process_start_ns};
}

// CLOCK_MONOTONIC when the walk was complete, and when it began; 0: it has no threads.
std::uint64_t walk_end_ns(const ThreadWalk& walk);
std::uint64_t walk_begin_ns(const ThreadWalk& walk);

// Iterates over two walks side by side.
class WalkPairing {
 public:
  // `before` may be null; both must outlive the object.
  WalkPairing(const ThreadWalk* before, const ThreadWalk& now) : before_(before), now_(now) {}

  // Calls pair(before, now) for each thread (tid and start) of the two walks. `before` is null for
  // a new thread, `now` for one that is gone.
  template <class Pair>
  void for_each(Pair pair) const {
    std::size_t next = 0;  // index in the walk before
    const std::size_t end = before_ ? before_->threads.size() : 0;
    for (const offcpud_thread& now : now_.threads) {
      while (next < end && before_->threads[next].tid < now.tid) {
        pair(&before_->threads[next++], nullptr);
      }
      const bool same_tid = next < end && before_->threads[next].tid == now.tid;
      const offcpud_thread* before = same_tid ? &before_->threads[next++] : nullptr;
      if (before && before->start_ns != now.start_ns) {
        pair(before, nullptr);
        before = nullptr;
      }
      pair(before, &now);
    }
    while (next < end) pair(&before_->threads[next++], nullptr);
  }

 private:
  const ThreadWalk* before_;
  const ThreadWalk& now_;
};

bool is_waiting(const offcpud_thread& thread);  // runnable or blocked

// A kernel thread that is waiting for work.
inline bool is_idle(const offcpud_thread& thread) {
  return (thread.flags & OFFCPUD_THREAD_IDLE) != 0;
}

// The age of the wait that a record shows, if the whole wait will be counted when it ends; else 0.
// A wait whose beginning the programs did not see is not counted.
std::uint64_t countable_wait_ns(const offcpud_thread& thread);

// How a thread spent the interval between two walks. Of a wait that began before it, or is still in
// progress, only the part within the interval counts, so no wait is longer than the interval.
struct ThreadInterval {
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> waited_ns{};
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, OFFCPUD_TAKERS> kept_off_ns{};  // waits that ended

  // For sums over the whole process: ended_ns are the whole lengths of waits that ended;
  // in_progress_ns is the part of waited_ns that has not ended.
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> ended_ns{};
  std::uint64_t in_progress_ns = 0;
};

// `before`: the same thread in the walk before; null: it started after that walk began. `begin_ns`:
// when that walk began (CLOCK_MONOTONIC).
ThreadInterval thread_interval(const offcpud_thread* before, const offcpud_thread& now,
                               std::uint64_t begin_ns);

// How long a kernel thread waited for work. What a wait is for is known only of the current one;
// ended ones count as waits for work if a walk has found the thread idle (`was_idle`).
std::uint64_t waited_for_work_ns(const offcpud_thread& now, const ThreadInterval& interval,
                                 bool was_idle);

}  // namespace offcpud
