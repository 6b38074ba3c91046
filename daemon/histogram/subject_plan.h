// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace offcpud {

// How the kernel's histograms are laid out on a machine: docs/decisions/0001-histogram-store.md.
struct SubjectPlan {
  std::uint32_t subjects = 0;  // one per measured cgroup, and one for "(other)"
  std::uint32_t shards = 1;    // copies of each subject; neighbouring CPUs share one
  bool own_shards = false;     // none is shared: shard of a CPU = cpu
  std::uint32_t cpu_bits =
      0;  // possible CPUs <= 2^cpu_bits; else shard of a CPU = cpu * shards >> cpu_bits
  std::uint32_t ring_size = 1;  // of the free list, a power of two above max_cgroups
  std::size_t bytes = 0;        // kernel memory of the histograms
};

// The most that shards may take; one shard is always made, however large.
inline constexpr std::size_t kShardBudgetBytes = std::size_t{64} << 20;

SubjectPlan plan_subjects(std::uint32_t max_cgroups, std::uint32_t possible_cpus);

}  // namespace offcpud
