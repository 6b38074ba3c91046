// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "histogram/latency_histogram.h"
#include "pipeline/disk_load.h"
#include "pipeline/kept_off_increase.h"
#include "pipeline/stall.h"
#include "pipeline/view.h"

namespace offcpud {

// What the kernel has counted so far for one cgroup in one place: the sum over its shards. It only
// grows until the place is closed. While a cgroup's first place is being closed, it may have a
// second one.
struct CgroupReading {
  std::uint64_t cgroup_id = 0;  // 0: cgroups that found no place
  std::uint32_t place = 0;      // tells apart the readings of one cgroup
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, OFFCPUD_TAKERS> preemptions{};
  std::array<std::uint64_t, OFFCPUD_WAKERS> wakeups{};
  std::uint64_t unaccounted_ns = 0;  // of threads that ended in it; modulo 2^64
  // Null: no episode yet.
  std::array<std::unique_ptr<LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

// The histograms of one process since the programs first saw it. A histogram that has not changed
// since the last reading is the same object.
struct ProcessReading {
  std::uint64_t start_ns = 0;  // identifies the process together with tgid; see offcpud_process
  std::uint32_t tgid = 0;
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

// Every thread that existed when the walk reached it, once each, sorted by tid of the initial PID
// namespace. Each record says when it was read.
struct ThreadWalk {
  std::vector<offcpud_thread> threads;
  unsigned passes = 1;  // number of passes over which the walk was spread to stay within its budget
};

// The result of one pass over the kernel maps: plain data.
struct KernelReading {
  std::vector<CgroupReading> cgroups;
  std::vector<CgroupReading> closed;      // last readings of places that were closed
  std::vector<KeptOffIncrease> kept_off;  // since the last reading, each pair once
  std::vector<LossCount> losses;
  std::vector<ProgramCost> programs;
  std::uint64_t left_censored = 0;
  std::vector<MapUsage> maps;
  // The last complete walk, perhaps that of the last reading.
  std::shared_ptr<const ThreadWalk> walk;
  std::vector<ProcessReading> processes;      // live ones that found a place
  std::vector<offcpud_stall_end> stall_ends;  // since the last reading
  std::vector<DiskLoadReading> disk_loads;    // since the last reading, no pair twice
  bool counts_disk_loads = false;             // false: the programs do not follow requests
  bool tells_wakers = true;                   // false: this kernel does not say who wakes
  // True: changes of cgroups may have been missed since the last read, so only a walk can tell
  // which exist.
  bool missed_cgroup_changes = false;
};

// Which blocks can become stalls. The kernel reports the ends of these blocks only.
struct StallFilter {
  std::uint64_t min_ns = UINT64_MAX;  // blocks that last longer than this
  std::uint32_t kinds = 0;            // bits by enum offcpud_hist_kind

  friend bool operator==(const StallFilter&, const StallFilter&) = default;
};

// What a thread waits for in the block that began at `since_ns`.
struct WaitReport {
  std::uint32_t tid = 0;
  std::uint64_t since_ns = 0;
  WaitDetail detail;
};

// The interface to the kernel; tests replace it. Used by one thread.
class ReadingSource {
 public:
  virtual ~ReadingSource() = default;

  virtual Result<KernelReading> read() = 0;

  // Closes the kernel's places of these cgroups. What is counted for a cgroup afterwards goes to a
  // new place; the last reading of the old place comes with a later reading, in `closed`. Ids
  // without a place are ignored.
  virtual void close(std::span<const std::uint64_t> cgroup_ids) = 0;

  // From now on, readings contain the ends of such blocks.
  virtual void watch_stalls(const StallFilter& filter) = 0;

  // What these threads of the walk wait for. Leaves out threads that no longer wait, and those
  // beyond the number that can be looked up at once.
  virtual Result<std::vector<WaitReport>> describe(const ThreadWalk& walk,
                                                   std::span<const std::uint32_t> tids) = 0;
};

}  // namespace offcpud
