// SPDX-License-Identifier: Apache-2.0
#include "histogram/subject_plan.h"

#include <algorithm>
#include <bit>

#include "offcpud.h"

namespace offcpud {

namespace {
// CPUs that share a shard if there is no room for one each; hardly costs anything in real
// workloads (decision 0001).
constexpr std::uint32_t kCpusPerShard = 4;
}  // namespace

SubjectPlan plan_subjects(std::uint32_t max_cgroups, std::uint32_t possible_cpus) {
  SubjectPlan plan;
  plan.subjects = max_cgroups + 1;
  plan.ring_size = std::bit_ceil(max_cgroups + 1);
  plan.cpu_bits = static_cast<std::uint32_t>(std::bit_width(std::max(possible_cpus, 1U) - 1));
  const std::size_t per_shard = (std::size_t{max_cgroups} + 1) * sizeof(offcpud_subject);
  const auto affordable = static_cast<std::uint32_t>(kShardBudgetBytes / per_shard);
  plan.own_shards = possible_cpus <= std::min<std::uint32_t>(affordable, OFFCPUD_MAX_SHARDS);
  const std::uint32_t useful =
      plan.own_shards ? possible_cpus : (possible_cpus + kCpusPerShard - 1) / kCpusPerShard;
  plan.shards = std::clamp<std::uint32_t>(std::min(affordable, useful), 1, OFFCPUD_MAX_SHARDS);
  plan.bytes = per_shard * plan.shards;
  return plan;
}

}  // namespace offcpud
