// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rules_of.h"
#include "unit/sampler/block_accounting_fixture.h"

namespace offcpud::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(BlockAccountingTest, IntervalsFollowTheNumberOfSamples) {
  options_.stacks_per_second = 200;
  start();
  EXPECT_EQ(kernel_.choice->intervals, SamplingIntervals(10ms));
  // 4 s of short blocks in every second.
  const auto pass = [this](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      kernel_.sample(static_cast<std::size_t>(4s / interval_of_samples()), interval_of_samples());
      run(1s);
    }
  };
  pass(10);
  EXPECT_NEAR(seconds_of(interval_of_samples()), 4.0 / 200, 0.001);
  EXPECT_EQ(adapted_.back(), interval_of_samples());  // the longest
  auto locked = BlockRecord(1).of(1).sample;
  locked.kind = OFFCPUD_BLOCKED_LOCK;
  EXPECT_LT(kernel_.choice->intervals.of[stratum_of(locked)], 1ms);
  options_.stacks_per_second = 400;
  accounting_->set_options(options_);
  pass(10);
  EXPECT_NEAR(seconds_of(interval_of_samples()), 4.0 / 400, 0.001);
  const auto before = interval_of_samples();
  run(1s);
  EXPECT_LT(interval_of_samples(), before);
  EXPECT_GE(interval_of_samples(), before / 2);
}

// Waits for work get fewer stacks than others of the same reason and time.
TEST_F(BlockAccountingTest, IntervalsFollowWhatWaitsAreFor) {
  const auto stretch_with = [this](const std::string& rule) {
    sites_->publish(test::rules_of("sites: [{" + rule + ", reason: '" + kAllReasons + "'}]"));
    reports_.examined = [](const std::shared_ptr<const WaitWindow>& /*window*/) {};
    options_.stacks_per_second = 20;
    start();
    for (int i = 0; i < 300; ++i) {
      kernel_.sample(static_cast<std::size_t>(4s / interval_of_samples()), interval_of_samples());
      run(1s);
      settle();
    }
    auto nobody = BlockRecord(1).of(2).sample;
    nobody.kind = OFFCPUD_BLOCKED_LOCK;
    return seconds_of(interval_of_samples()) /
           seconds_of(kernel_.choice->intervals.of[stratum_of(nobody)]);
  };
  const double of_locks = stretch_with("name: one, for: lock");
  const double of_idle = stretch_with("name: two, for: work");
  EXPECT_GT(of_idle, 5 * of_locks);
}

TEST_F(BlockAccountingTest, AProfiledProcessHasAnIntervalOfItsOwn) {
  start();
  profile(5s, only_pid(kSelf));
  EXPECT_THAT(kernel_.choice->targets, ElementsAre(kSelf));
  EXPECT_EQ(kernel_.choice->target_interval, 10ms);
  run(50ms);
  EXPECT_EQ(kernel_.choice->target_interval, 5ms);  // there was nothing
  kernel_.sample(400, 5ms);                         // twice the budget
  run(50ms);
  EXPECT_EQ(kernel_.choice->target_interval, 10ms);
  EXPECT_EQ(kernel_.choice->intervals, SamplingIntervals(10ms));
  run(5s);
  EXPECT_THAT(kernel_.choice->targets, IsEmpty());
  profile(1s, only_pid(kSelf));
  EXPECT_EQ(kernel_.choice->target_interval, 10ms);  // anew
}

// What is sampled for a profile only costs the host no stacks: of 400 a second that stand for 5 ms
// each, it would have taken half with 10 ms, which is its budget.
TEST_F(BlockAccountingTest, AProfileTakesNothingFromTheBudgetOfTheHost) {
  options_.stacks_per_second = 200;
  start();
  profile(10s, only_pid(kSelf));
  for (int i = 0; i < 10 * 20; ++i) {
    kernel_.sample(20, 5ms);
    run(50ms);
  }
  EXPECT_NEAR(seconds_of(interval_of_samples()), 0.010, 0.001);
}

TEST_F(BlockAccountingTest, AWindowKeepsTheLongestIntervalThatWasInForceInIt) {
  BlockFilter locks;
  locks.kinds = 1U << OFFCPUD_BLOCKED_LOCK;
  options_.stacks_per_second = 200;
  start();
  kernel_.sample(400, 10ms);
  run(1s);
  const auto longest = interval_of_samples();
  EXPECT_GT(longest, 15ms);
  profile(300ms, {});
  profile(300ms, only_pid(kSelf));
  profile(300ms, locks);
  run(9s);
  EXPECT_LT(interval_of_samples(), longest);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(3));
  EXPECT_EQ(profiles_.snapshots[0].sampling_interval, longest);
  EXPECT_EQ(profiles_.snapshots[1].sampling_interval, 10ms);
  EXPECT_EQ(profiles_.snapshots[2].sampling_interval, 5ms);  // halved once
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].sampling_interval, longest);
}

TEST_F(BlockAccountingTest, WithoutHooksNothingIsChosen) {
  kernel_.hooks = false;
  start();
  profile(1s, only_pid(kSelf));
  run(11s);
  settle();
  EXPECT_FALSE(kernel_.choice);
  EXPECT_THAT(snapshots_.snapshots, SizeIs(1));
}

}  // namespace
}  // namespace offcpud::test
