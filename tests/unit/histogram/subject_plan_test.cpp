// SPDX-License-Identifier: Apache-2.0
#include "histogram/subject_plan.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(SubjectPlan, HundredAndTwentyEightCpusAndAThousandCgroupsStayUnder64MiB) {
  const SubjectPlan plan = plan_subjects(1000, 128);
  EXPECT_LT(plan.bytes, std::size_t{64} << 20);
  EXPECT_GE(plan.shards, 2U);
}

TEST(SubjectPlan, EveryPossibleCpuHasAShard) {
  for (const std::uint32_t max_cgroups : {16U, 1000U, 1024U, 16384U}) {
    for (std::uint32_t cpus = 1; cpus <= 4096; ++cpus) {
      const SubjectPlan plan = plan_subjects(max_cgroups, cpus);
      const std::uint64_t last =
          plan.own_shards ? cpus - 1 : (std::uint64_t{cpus - 1} * plan.shards) >> plan.cpu_bits;
      ASSERT_LT(last, plan.shards) << max_cgroups << " cgroups, " << cpus << " CPUs";
      ASSERT_GE(plan.shards, 1U);
      ASSERT_TRUE(plan.shards == 1 || plan.bytes <= kShardBudgetBytes);
    }
  }
}

TEST(SubjectPlan, CpusHaveShardsOfTheirOwnWhileTheyFit) {
  EXPECT_TRUE(plan_subjects(1024, 1).own_shards);
  EXPECT_TRUE(plan_subjects(1024, 3).own_shards);
  EXPECT_EQ(plan_subjects(1024, 3).shards, 3U);
  EXPECT_FALSE(plan_subjects(1024, 4).own_shards);
  EXPECT_EQ(plan_subjects(1024, 4).shards, 1U);
  EXPECT_TRUE(plan_subjects(16, 64).own_shards);
  EXPECT_FALSE(plan_subjects(16, 65).own_shards) << "OFFCPUD_MAX_SHARDS";
  EXPECT_FALSE(plan_subjects(16'384, 2).own_shards);
}

TEST(SubjectPlan, TheRingHoldsEveryFreeSubject) {
  for (const std::uint32_t max_cgroups : {16U, 1023U, 1024U, 16384U}) {
    const SubjectPlan plan = plan_subjects(max_cgroups, 8);
    EXPECT_GT(plan.ring_size, max_cgroups);
    EXPECT_EQ(plan.ring_size & (plan.ring_size - 1), 0U);
  }
}

// The figures of docs/configuration.md; the unit has MemoryMax=1792M.
TEST(SubjectPlan, TheMostCgroupsThatTheConfigurationAllowsTake266MiB) {
  EXPECT_EQ(plan_subjects(1, 1).bytes, 2 * 17'040U);
  EXPECT_EQ(plan_subjects(16'384, 256).bytes >> 20U, 266U);
}

}  // namespace
}  // namespace offcpud
