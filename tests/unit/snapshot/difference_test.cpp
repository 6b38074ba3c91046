// SPDX-License-Identifier: Apache-2.0
#include "snapshot/difference.h"

#include <gtest/gtest.h>

#include "snapshot/pprof.h"
#include "snapshot/stack_table.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

TEST(Difference, OfEqualRangesIsNothing) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Snapshot s = test::random_snapshot(seed);
    const StackDifference difference = difference_of(s, s, Normalize::No);
    ASSERT_EQ(difference.before.size(), difference.after.entries.size());
    for (std::size_t i = 0; i < difference.before.size(); ++i) {
      const StackEntry& entry = difference.after.entries[i];
      EXPECT_EQ(difference.before[i], (StackAmount{entry.ns, entry.episodes}));
    }
    const auto profile = pprof_of(difference);
    ASSERT_TRUE(profile) << profile.error().message();
    const auto read = snapshot_of_pprof(*profile);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(read->entries.empty());
  }
}

TEST(Difference, OfEqualLengthsIsExact) {
  Snapshot s = test::ordinary_snapshot();
  s.entries[0].ns = (std::uint64_t{1} << 53U) + 1;
  const StackDifference difference = difference_of(s, s, Normalize::ToLater);
  EXPECT_EQ(difference.before[0].ns, s.entries[0].ns);
}

// AddressSanitizer's suite sees numbers that do not fit.
TEST(Difference, ScaledAmountsThatDoNotFitAreCutOff) {
  Snapshot before = test::ordinary_snapshot();
  before.duration = 1ns;
  const auto difference = difference_of(before, test::ordinary_snapshot(), Normalize::ToLater);
  for (const StackAmount& amount : difference.before)
    EXPECT_GT(amount.ns, 1'000'000'000'000'000'000);
}

TEST(Difference, HasTheTotalsOfBothRanges) {
  const Snapshot before = test::random_snapshot(1), after = test::random_snapshot(2);
  const StackDifference difference = difference_of(before, after, Normalize::No);
  EXPECT_EQ(test::amounts(after).size() + test::amounts(before).size() >=
                test::amounts(difference.after).size(),
            true);
  EXPECT_EQ(test::total_ns(difference.after), test::total_ns(after));
  std::uint64_t ns = 0;
  double episodes = 0;
  for (const StackAmount& amount : difference.before) {
    ns += amount.ns;
    episodes += amount.episodes;
  }
  EXPECT_EQ(ns, test::total_ns(before));
  EXPECT_DOUBLE_EQ(episodes, test::total_episodes(before));
}

TEST(Difference, ScalesTheEarlierRangeToTheLengthOfTheLater) {
  Snapshot before = test::ordinary_snapshot(), after = test::ordinary_snapshot();
  before.duration = 30s;
  const StackDifference difference = difference_of(before, after, Normalize::ToLater);
  for (std::size_t i = 0; i < difference.before.size(); ++i) {
    EXPECT_EQ(difference.before[i].ns, 2 * difference.after.entries[i].ns);
    EXPECT_DOUBLE_EQ(difference.before[i].episodes, 2 * difference.after.entries[i].episodes);
    EXPECT_DOUBLE_EQ(difference.before[i].variance, 4 * difference.after.entries[i].variance);
  }
}

TEST(StackTable, BeyondItsLimitKeepsTheTimeByReasonAndByWhatItIsFor) {
  const Snapshot s = test::random_snapshot(5, 500);
  StackTable table(50);
  table.use_frames_of(s);
  std::map<std::pair<std::size_t, WaitFor>, std::uint64_t> sums, expected;
  for (const StackEntry& entry : s.entries) {
    table.at(table.place_of(s, entry)).ns += entry.ns;
    expected[{entry.reason, entry.wait_for}] += entry.ns;
  }
  EXPECT_LE(table.size(), 50U + OFFCPUD_BLOCKED_KINDS * kWaitForNames.size());
  Snapshot merged;
  table.move_to(merged);
  for (const StackEntry& entry : merged.entries) sums[{entry.reason, entry.wait_for}] += entry.ns;
  EXPECT_EQ(sums, expected);
  EXPECT_EQ(merged.entries.back().cgroup, "(other)");
}

}  // namespace
}  // namespace offcpud
