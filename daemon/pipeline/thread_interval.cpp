// SPDX-License-Identifier: Apache-2.0
#include "pipeline/thread_interval.h"

#include <algorithm>
#include <limits>

namespace offcpud {
namespace {

std::uint64_t less(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}

// Whether both records are of one thread. A thread that calls exec takes over tid and start of the
// leader but keeps its own counters, so the records before and after belong to two threads.
bool counts_go_on(const offcpud_thread& before, const offcpud_thread& now) {
  if (now.running_ns < before.running_ns || now.kernel_running_ns < before.kernel_running_ns) {
    return false;
  }
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    if (now.waits_ns[kind] < before.waits_ns[kind]) return false;
  }
  return true;
}

// The part of the now ended waits that was already counted when `before` was read: that of the wait
// which was in progress then.
std::uint64_t counted_before(const offcpud_thread& before, const offcpud_thread& now) {
  const bool lasts = before.state == now.state && before.since_ns == now.since_ns;
  return lasts ? 0 : countable_wait_ns(before);
}

void add_in_progress(ThreadInterval& interval, const offcpud_thread& now, std::uint64_t length) {
  const std::uint64_t within = std::min(age_ns(now), length);
  if (now.state == OFFCPUD_THREAD_RUNNING) {
    interval.running_ns += within;
  } else if (is_waiting(now)) {
    interval.waited_ns[now.kind] += within;
    interval.in_progress_ns = within;
  }
}

void add_ended(ThreadInterval& interval, const offcpud_thread* before, const offcpud_thread& now) {
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    interval.ended_ns[kind] = now.waits_ns[kind] - (before ? before->waits_ns[kind] : 0);
    interval.waited_ns[kind] += interval.ended_ns[kind];
  }
  for (std::size_t by = 0; by < OFFCPUD_TAKERS; ++by) {
    interval.kept_off_ns[by] = less(now.kept_off_ns[by], before ? before->kept_off_ns[by] : 0);
  }
  std::uint64_t ran_before = 0;
  if (before) {
    ran_before = before->running_ns;
    if (is_waiting(*before)) {
      std::uint64_t& waited = interval.waited_ns[before->kind];
      waited = less(waited, counted_before(*before, now));
    } else if (before->state == OFFCPUD_THREAD_RUNNING &&
               (now.state != OFFCPUD_THREAD_RUNNING || now.since_ns != before->since_ns)) {
      ran_before += age_ns(*before);
    }
  }
  interval.running_ns += less(now.running_ns, ran_before);
}

}  // namespace

std::uint64_t walk_end_ns(const ThreadWalk& walk) {
  std::uint64_t end = 0;
  for (const offcpud_thread& thread : walk.threads)
    end = std::max<std::uint64_t>(end, thread.now_ns);
  return end;
}

std::uint64_t walk_begin_ns(const ThreadWalk& walk) {
  std::uint64_t begin = walk.threads.empty() ? 0 : std::numeric_limits<std::uint64_t>::max();
  for (const offcpud_thread& thread : walk.threads) {
    begin = std::min<std::uint64_t>(begin, thread.now_ns);
  }
  return begin;
}

bool is_waiting(const offcpud_thread& thread) {
  return (thread.state == OFFCPUD_THREAD_RUNNABLE || thread.state == OFFCPUD_THREAD_BLOCKED) &&
         thread.kind < OFFCPUD_HIST_KINDS;
}

std::uint64_t countable_wait_ns(const offcpud_thread& thread) {
  constexpr auto kUncounted = OFFCPUD_THREAD_ESTIMATED | OFFCPUD_THREAD_UNKNOWN;
  return is_waiting(thread) && (thread.flags & kUncounted) == 0 ? age_ns(thread) : 0;
}

ThreadInterval thread_interval(const offcpud_thread* before, const offcpud_thread& now,
                               std::uint64_t begin_ns) {
  ThreadInterval interval;
  const std::uint64_t length = less(now.now_ns, before ? before->now_ns : begin_ns);
  add_in_progress(interval, now, length);
  // If another thread took over the tid, its counts cannot be assigned to this interval.
  if (!before || counts_go_on(*before, now)) add_ended(interval, before, now);
  for (std::uint64_t& waited : interval.waited_ns) waited = std::min(waited, length);
  interval.running_ns = std::min(interval.running_ns, length);
  return interval;
}

std::uint64_t waited_for_work_ns(const offcpud_thread& now, const ThreadInterval& interval,
                                 bool was_idle) {
  const bool in_kernel_wait = is_waiting(now) && now.kind == OFFCPUD_BLOCKED_KERNEL;
  const std::uint64_t in_progress = in_kernel_wait ? interval.in_progress_ns : 0;
  const std::uint64_t ended = interval.waited_ns[OFFCPUD_BLOCKED_KERNEL] - in_progress;
  return (is_idle(now) ? in_progress : 0) + (is_idle(now) || was_idle ? ended : 0);
}

}  // namespace offcpud
