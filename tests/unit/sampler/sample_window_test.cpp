// SPDX-License-Identifier: Apache-2.0
#include "sampler/sample_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/known_cgroups.h"
#include "support/sampled_blocks.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::BlockRecord;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kDisk = 1U << OFFCPUD_BLOCKED_DISK;
constexpr std::uint32_t kLock = 1U << OFFCPUD_BLOCKED_LOCK;

struct SampleWindowTest : testing::Test {
  SampleWindow& window(const BlockFilter& filter, bool is_snapshot) {
    SampleWindow& made = windows.emplace_back(StackSums(100), CgroupPaths(cgroups.directory()),
                                              Moment{MonotonicTime(1s), {}}, 60s);
    made.filter = filter;
    if (is_snapshot) made.capture = std::make_shared<const CaptureRules>();
    return made;
  }
  test::KnownCgroups cgroups;
  std::list<SampleWindow> windows;
};

TEST_F(SampleWindowTest, ASnapshotAloneChoosesWhatItWants) {
  BlockFilter filter;
  filter.kinds = kDisk;
  filter.kernel_threads = false;
  filter.min_ns = 5;
  filter.max_ns = 9;
  filter.task_state = 2;
  window(filter, true);
  const SampleChoice choice = choice_for(windows);
  EXPECT_EQ(choice.blocks, filter);
  EXPECT_THAT(choice.targets, IsEmpty());
}

// Neither is narrowed by the other.
TEST_F(SampleWindowTest, AProfileWidensTheChoice) {
  BlockFilter of_snapshots, of_profile;
  of_snapshots.kinds = kDisk;
  of_snapshots.user_threads = false;
  of_snapshots.min_ns = 5;
  of_snapshots.max_ns = 9;
  of_snapshots.task_state = 2;
  of_profile.kinds = kLock;
  of_profile.kernel_threads = false;
  of_profile.min_ns = 3;
  of_profile.max_ns = 4;
  of_profile.task_state = 1;
  window(of_snapshots, true);
  SampleWindow& profile = window(of_profile, false);
  const SampleChoice choice = choice_for(windows);
  EXPECT_EQ(choice.blocks.kinds, kDisk | kLock);
  EXPECT_TRUE(choice.blocks.user_threads);
  EXPECT_TRUE(choice.blocks.kernel_threads);
  EXPECT_EQ(choice.blocks.min_ns, 3U);
  EXPECT_EQ(choice.blocks.max_ns, BlockFilter::kNoMaximum);  // what lasts must be accounted for it
  EXPECT_EQ(choice.blocks.task_state, 3U);
  profile.filter.task_state.reset();
  EXPECT_EQ(choice_for(windows).blocks.task_state, std::nullopt);
}

TEST_F(SampleWindowTest, ProfilesOfOneProcessOrThreadAreFocuses) {
  BlockFilter of_process, of_thread;
  of_process.pid = 70;
  of_thread.pid = 80;
  of_thread.tid = 81;
  window({}, true);
  window(of_process, false);
  window({}, false);
  window(of_thread, false);
  const SampleChoice choice = choice_for(windows);
  EXPECT_THAT(choice.targets, ElementsAre(70, 81));
  EXPECT_EQ(choice.blocks, BlockFilter{});  // the others go on being sampled
}

// A window may be longer than the time for which the directory knows a cgroup that is gone.
TEST_F(SampleWindowTest, KeepsThePathsOfCgroupsThatAreGone) {
  SampleWindow& made = window({}, true);
  cgroups.create(7, "early");
  for (const std::uint64_t cgroup : {7U, 8U, 9U}) {
    made.add(BlockRecord(1).in_cgroup(cgroup).block(), 1);
  }
  cgroups.create(8, "late");  // told of after its first block
  made.cgroups.retry();
  cgroups.forget(7);
  cgroups.forget(8);
  ASSERT_EQ(cgroups.directory()->find(7), std::nullopt);
  ASSERT_EQ(cgroups.directory()->find(8), std::nullopt);
  const SampledInterval interval = made.close({MonotonicTime(61s), {}});
  EXPECT_EQ(interval.cgroups.path_of(7), "/early");
  EXPECT_EQ(interval.cgroups.path_of(8), "/late");
  EXPECT_EQ(interval.cgroups.path_of(9), "(unknown)");
}

TEST_F(SampleWindowTest, LooksForMissingPathsOnceMoreWhenItEnds) {
  SampleWindow& made = window({}, true);
  made.add(BlockRecord(1).in_cgroup(7).block(), 1);
  made.add(BlockRecord(1).in_cgroup(8).block(), 1);
  cgroups.create(7, "a");
  const SampledInterval interval = made.close({MonotonicTime(61s), {}});
  cgroups.forget(7);
  EXPECT_EQ(interval.cgroups.path_of(7), "/a");
  cgroups.create(8, "b");  // and while it is named
  EXPECT_EQ(interval.cgroups.path_of(8), "/b");
}

// What a profile has of a block that began before it is still one episode that ended.
TEST_F(SampleWindowTest, AddsAPartOfTheWeightAndTheWholeEpisode) {
  SampleWindow& made = window({}, false);
  made.add(BlockRecord(1000).standing_for(2000).block(), 500);
  const auto drained = made.stacks.drain();
  ASSERT_EQ(drained.sums.size(), 1U);
  EXPECT_EQ(drained.sums[0].ns, 500U);
  EXPECT_DOUBLE_EQ(drained.sums[0].episodes, 2);
}

// A walk may count all of a block that ends at that moment; a snapshot that judges whole blocks
// has refused what the walk found, and makes up for it.
TEST_F(SampleWindowTest, ABlockOfWhichTheLastWalkLeftNothingCountsWhole) {
  SampleWindow& made = window({}, true);
  BlockRecord record = BlockRecord(1000).standing_for(2000);
  record.sample.ns = record.sample.weight_ns = 0;
  made.filter.max_ns = 5000;
  const std::uint64_t weight_ns = made.weight_of(record.sample);
  EXPECT_EQ(weight_ns, 2000U);
  made.add(record.block(), weight_ns);
  const auto drained = made.stacks.drain();
  ASSERT_EQ(drained.sums.size(), 1U);
  EXPECT_EQ(drained.sums[0].ns, 2000U);
  EXPECT_DOUBLE_EQ(drained.sums[0].episodes, 2);
}

}  // namespace
}  // namespace offcpud
