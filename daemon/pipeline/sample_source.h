// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "histogram/latency_histogram.h"
#include "pipeline/view.h"

namespace offcpud {

// What the kernel counted for one cgroup in one place so far: the sum over its shards. Only grows
// until the place is closed. A cgroup may have a second place while its first one is being closed.
struct CgroupReading {
  std::uint64_t cgroup_id = 0;  // 0: what no other place had room for
  std::uint32_t place = 0;      // tells readings of one cgroup apart
  std::uint64_t running_ns = 0;
  // Null: no episode so far.
  std::array<std::unique_ptr<LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

// One pass over the kernel maps: plain data.
struct KernelSample {
  std::vector<CgroupReading> cgroups;
  std::vector<CgroupReading> closed;  // last readings of places that were taken back
  std::vector<LossCount> losses;
  std::uint64_t left_censored = 0;
  std::vector<MapUsage> maps;
  // Changes of cgroups may have been missed since the last read: only a walk tells which exist.
  bool missed_cgroup_changes = false;
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
};

}  // namespace offcpud
