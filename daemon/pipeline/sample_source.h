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

// What the kernel counted for one cgroup so far: the sum over its shards. Only grows while the
// kernel keeps the cgroup; after `retire` a later cgroup starts again from zero.
struct CgroupReading {
  std::uint64_t cgroup_id = 0;  // 0: what no other subject had room for
  std::uint64_t running_ns = 0;
  // Null: no episode so far.
  std::array<std::unique_ptr<LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

// One pass over the kernel maps: plain data.
struct KernelSample {
  std::vector<CgroupReading> cgroups;
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

  // Gives back what the kernel keeps for these cgroups and returns their last readings, after which
  // nothing more can be charged to them. Ids that the kernel does not keep are left out.
  virtual Result<std::vector<CgroupReading>> retire(std::span<const std::uint64_t> cgroup_ids) = 0;
};

}  // namespace offcpud
