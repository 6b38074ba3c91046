// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace offcpud {

// How the histograms in the kernel are laid out on this machine:
// docs/decisions/0001-histogram-store.md.
struct SubjectPlan {
  std::uint32_t subjects = 0;  // one for each measured cgroup, and one for "(other)"
  std::uint32_t shards = 1;    // copies of each subject; neighbouring CPUs share a copy
  bool own_shards = false;     // each CPU has its own: shard = cpu
  // Possible CPUs <= 2^cpu_bits. Without own_shards, shard of a CPU = cpu * shards >> cpu_bits.
  std::uint32_t cpu_bits = 0;
  std::uint32_t ring_size = 1;  // of the free list: a power of two above max_cgroups
  std::size_t bytes = 0;        // kernel memory of the histograms
};

// Limit for the memory of shards; one shard is always made, however large.
inline constexpr std::size_t kShardBudgetBytes = std::size_t{64} << 20;

SubjectPlan plan_subjects(std::uint32_t max_cgroups, std::uint32_t possible_cpus);

}  // namespace offcpud
