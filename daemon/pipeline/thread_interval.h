// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "offcpud.h"
#include "pipeline/sample_source.h"
#include "pipeline/thread_record.h"

namespace offcpud {

// What tells a process from every other one that has or had its pid.
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

// CLOCK_MONOTONIC at which the walk was complete, and at which it began; 0: it met no thread.
std::uint64_t walk_end_ns(const ThreadWalk& walk);
std::uint64_t walk_begin_ns(const ThreadWalk& walk);

// Goes through two walks side by side.
class WalkPairing {
 public:
  // `before` may be null; both must outlive the object.
  WalkPairing(const ThreadWalk* before, const ThreadWalk& now) : before_(before), now_(now) {}

  // Calls pair(before, now) for each thread (tid and start) of the two walks: `before` is null for
  // one that is new, `now` for one that is gone.
  template <class Pair>
  void for_each(Pair pair) const {
    std::size_t next = 0;  // of the walk before
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

// A kernel thread that waits for work.
inline bool is_idle(const offcpud_thread& thread) {
  return (thread.flags & OFFCPUD_THREAD_IDLE) != 0;
}

// The age of the wait that a record of a walk shows, if its whole length will be counted when it
// ends; else 0. A wait whose beginning the programs did not see is not counted.
std::uint64_t countable_wait_ns(const offcpud_thread& thread);

// How a thread spent the interval between two walks. No wait is longer than the interval, and one
// that began before it, or still lasts, counts with the part that lies within.
struct ThreadInterval {
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> waited_ns{};
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, OFFCPUD_TAKERS> kept_off_ns{};  // waits that ended

  // For what only the whole process tells: waits that ended, each with its whole length, and the
  // part of waited_ns that has not ended yet.
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> ended_ns{};
  std::uint64_t in_progress_ns = 0;
};

// `before`: the same thread in the walk before; null: it started after that one began, which was at
// `begin_ns` (CLOCK_MONOTONIC).
ThreadInterval thread_interval(const offcpud_thread* before, const offcpud_thread& now,
                               std::uint64_t begin_ns);

// The part of a kernel thread's waits that is the one for work. What it is in now is known; of
// those that ended, all count as such once it was met idle (`was_idle`).
std::uint64_t waited_for_work_ns(const offcpud_thread& now, const ThreadInterval& interval,
                                 bool was_idle);

}  // namespace offcpud
