// SPDX-License-Identifier: Apache-2.0
#include "pipeline/in_progress.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/hist_kind.h"
#include "pipeline/thread_interval.h"
#include "pipeline/thread_record.h"

namespace offcpud {
namespace {

void add_blocked(WaitsInProgress& waits, const offcpud_thread& thread,
                 std::span<const std::chrono::milliseconds> stall_bounds) {
  constexpr std::size_t kOther = OFFCPUD_BLOCKED_OTHER;
  const std::size_t kind = thread.kind;
  BlocksInProgress& blocks = waits.blocked[is_blocked_kind(kind) ? kind : kOther];
  ++blocks.threads;
  // A kernel thread that waits for work is as old as the host; its age would say nothing.
  if (thread.flags & OFFCPUD_THREAD_IDLE) return;
  const std::uint64_t age = age_ns(thread);
  blocks.oldest.merge({age, (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0});
  for (std::size_t i = 0; i < stall_bounds.size(); ++i) {
    const std::chrono::nanoseconds bound = stall_bounds[i];
    if (age > static_cast<std::uint64_t>(bound.count())) ++blocks.stalled[i];
  }
}

// Whether the current state will be accounted. The wait in which the programs first found a thread
// never is: they follow the thread from its end on. A thread first found on a CPU is followed at
// once.
bool is_followed(const offcpud_thread& thread) {
  return (thread.flags & (OFFCPUD_THREAD_ESTIMATED | OFFCPUD_THREAD_UNKNOWN)) == 0 ||
         thread.state == OFFCPUD_THREAD_RUNNING;
}

void add_open(WaitsInProgress& waits, const offcpud_thread& thread) {
  if (!is_waiting(thread)) return;
  OpenWaits& open = waits.open[thread.kind];
  ++open.threads;
  if (is_idle(thread)) ++open.for_work;
  if (is_followed(thread)) {
    open.counted_ns += age_ns(thread);
    open.oldest_counted_ns = std::max(open.oldest_counted_ns, age_ns(thread));
  } else {
    ++open.uncounted;
  }
}

}  // namespace

void add_waits(WaitsInProgress& into, const WaitsInProgress& more) {
  for (std::size_t kind = 0; kind < into.blocked.size(); ++kind) {
    BlocksInProgress& blocks = into.blocked[kind];
    blocks.threads += more.blocked[kind].threads;
    blocks.oldest.merge(more.blocked[kind].oldest);
    for (std::size_t i = 0; i < blocks.stalled.size(); ++i) {
      blocks.stalled[i] += more.blocked[kind].stalled[i];
    }
  }
  for (std::size_t kind = 0; kind < into.open.size(); ++kind) {
    OpenWaits& open = into.open[kind];
    open.counted_ns += more.open[kind].counted_ns;
    open.oldest_counted_ns = std::max(open.oldest_counted_ns, more.open[kind].oldest_counted_ns);
    open.threads += more.open[kind].threads;
    open.uncounted += more.open[kind].uncounted;
    open.for_work += more.open[kind].for_work;
  }
  into.shown |= more.shown;
  into.oldest_runnable_ns = std::max(into.oldest_runnable_ns, more.oldest_runnable_ns);
}

InProgressByPath waits_in_progress(const ThreadWalk& walk,
                                   std::span<const std::chrono::milliseconds> stall_bounds,
                                   const std::function<std::string(std::uint64_t)>& path_of) {
  stall_bounds = stall_bounds.first(std::min(stall_bounds.size(), kMaxStallBounds));
  InProgressByPath paths;
  std::unordered_map<std::uint64_t, CgroupInProgress*> by_id;
  for (const offcpud_thread& thread : walk.threads) {
    if (thread.state == OFFCPUD_THREAD_ENDED) continue;
    CgroupInProgress*& cgroup = by_id[thread.cgroup_id];
    if (!cgroup) cgroup = &paths[path_of(thread.cgroup_id)];
    if (thread.state == OFFCPUD_THREAD_BLOCKED) {
      add_blocked(cgroup->waits, thread, stall_bounds);
    } else if (thread.state == OFFCPUD_THREAD_RUNNABLE) {
      std::uint64_t& oldest = cgroup->waits.oldest_runnable_ns;
      oldest = std::max(oldest, age_ns(thread));
    }
    add_open(cgroup->waits, thread);
    if (is_followed(thread)) cgroup->open.in_progress_ns += age_ns(thread);
    cgroup->open.unaccounted_ns += thread.unaccounted_ns;
  }
  return paths;
}

}  // namespace offcpud
