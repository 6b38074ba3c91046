// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "histogram/latency_histogram.h"
#include "pipeline/stall.h"
#include "pipeline/view.h"

namespace offcpud {

// What the kernel counted for one cgroup in one place so far: the sum over its shards. Only grows
// until the place is closed. A cgroup may have a second place while its first one is being closed.
struct CgroupReading {
  std::uint64_t cgroup_id = 0;  // 0: what no other place had room for
  std::uint32_t place = 0;      // tells readings of one cgroup apart
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, OFFCPUD_TAKERS> preemptions{};
  std::array<std::uint64_t, OFFCPUD_WAKERS> wakeups{};
  std::uint64_t unaccounted_ns = 0;  // of threads that ended or left; modulo 2^64
  // Null: no episode so far.
  std::array<std::unique_ptr<LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

// The histograms of one process, since the programs know it. A histogram that did not change since
// the last sample is the same object.
struct ProcessReading {
  std::uint64_t start_ns = 0;  // with tgid the identity: docs of offcpud_process
  std::uint32_t tgid = 0;
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

// Every thread that existed while the walk came by: each once, sorted by tid of the initial PID
// namespace. Each record says when it was read.
struct ThreadWalk {
  std::vector<offcpud_thread> threads;
  unsigned passes = 1;  // over which the walk was spread to stay within its budget
};

// One pass over the kernel maps: plain data.
struct KernelSample {
  std::vector<CgroupReading> cgroups;
  std::vector<CgroupReading> closed;  // last readings of places that were taken back
  std::vector<LossCount> losses;
  std::vector<ProgramCost> programs;
  std::uint64_t left_censored = 0;
  std::vector<MapUsage> maps;
  std::shared_ptr<const ThreadWalk> walk;  // the last complete one: may be that of the last sample
  std::vector<ProcessReading> processes;   // that live, and that there was room for
  std::vector<offcpud_stall_end> stall_ends;  // since the last sample
  bool tells_wakers = true;                   // false: this kernel does not say who wakes
  // Changes of cgroups may have been missed since the last read: only a walk tells which exist.
  bool missed_cgroup_changes = false;
};

// Which blocks may be stalls at all: the kernel tells of no others.
struct StallFilter {
  std::uint64_t min_ns = UINT64_MAX;  // those that last longer
  std::uint32_t kinds = 0;            // bits by enum offcpud_hist_kind

  friend bool operator==(const StallFilter&, const StallFilter&) = default;
};

// What a thread waits for, in the block that began at `since_ns`.
struct WaitReport {
  std::uint32_t tid = 0;
  std::uint64_t since_ns = 0;
  WaitDetail detail;
};

// Seam to the kernel. Used by one thread.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  virtual Result<KernelSample> read() = 0;

  // Takes back the kernel's places of these cgroups. Whatever is still charged to a cgroup goes to
  // a new place; the last reading of the old one comes with a later sample, in `closed`. Ids that
  // the kernel does not keep are left out.
  virtual void close(std::span<const std::uint64_t> cgroup_ids) = 0;

  // From now on, samples tell the ends of such blocks.
  virtual void watch_stalls(const StallFilter& filter) = 0;

  // What these threads of the walk wait for. Those that do not wait any more are left out, and so
  // are more than can be looked up at once.
  virtual Result<std::vector<WaitReport>> describe(const ThreadWalk& walk,
                                                   std::span<const std::uint32_t> tids) = 0;
};

}  // namespace offcpud
