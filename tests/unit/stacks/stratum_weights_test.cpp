// SPDX-License-Identifier: Apache-2.0
#include "stacks/stratum_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stacks/sampling_intervals.h"
#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kSecond;

constexpr std::size_t kLocks = stratum_at(5, OFFCPUD_BLOCKED_LOCK);
constexpr std::size_t kPolls = stratum_at(5, OFFCPUD_BLOCKED_POLL);
constexpr std::size_t kKernelThreads =
    stratum_at(OFFCPUD_ROW_OF_KERNEL_THREADS, OFFCPUD_BLOCKED_LOCK);

KnownWaits known(WaitFor wait_for, double ns) {
  KnownWaits waits;
  waits.add(wait_for, ns);
  return waits;
}

// The weights after ten minutes, with such waits in every second.
StratumWeights after(const StratumTimes& times) {
  StratumWeights weights;
  for (int second = 0; second < 600; ++second) weights.add(times, 1s);
  return weights;
}

TEST(StratumWeights, BeginWithAGuessByReason) {
  const StratumWeights weights;
  EXPECT_EQ(weights.of(kLocks), 1);
  EXPECT_EQ(weights.of(kPolls), StratumWeights::kIdle);
  EXPECT_EQ(weights.of(kKernelThreads), StratumWeights::kIdle);
}

TEST(StratumWeights, FollowWhatWaitsAreFor) {
  const StratumWeights weights = after({{kLocks, known(WaitFor::Work, 1000 * kSecond)},
                                        {kPolls, known(WaitFor::Lock, 8 * kSecond)}});
  EXPECT_NEAR(weights.of(kLocks), StratumWeights::kIdle, 0.001);
  EXPECT_NEAR(weights.of(kPolls), 1, 0.01);
  EXPECT_EQ(weights.of(kKernelThreads), StratumWeights::kIdle);
}

TEST(StratumWeights, AreTheRootOfThePartThatIsActionable) {
  KnownWaits mixed = known(WaitFor::Timer, 75 * kSecond);
  mixed += known(WaitFor::Answer, 25 * kSecond);
  EXPECT_NEAR(after({{kPolls, mixed}}).of(kPolls), std::sqrt(0.25), 0.01);
  EXPECT_NEAR(after({{kLocks, mixed}}).of(kLocks), std::sqrt(0.25), 0.01);
}

TEST(StratumWeights, WhatNobodyKnowsChangesNothing) {
  const StratumWeights weights = after({{kLocks, known(WaitFor::Unknown, 100 * kSecond)},
                                        {kPolls, known(WaitFor::Unknown, 100 * kSecond)}});
  EXPECT_EQ(weights.of(kLocks), 1);
  EXPECT_EQ(weights.of(kPolls), StratumWeights::kIdle);
}

TEST(StratumWeights, AFewSamplesChangeLittleAndAreForgotten) {
  StratumWeights weights;
  weights.add({{kLocks, known(WaitFor::Work, kSecond)}}, 1s);
  EXPECT_GT(weights.of(kLocks), 0.9);
  EXPECT_LT(weights.of(kLocks), 1);
  weights.add({}, 24h);
  EXPECT_EQ(weights.of(kLocks), 1);
}

TEST(StratumWeights, WhatWasKnownLosesHalfInAHalfLife) {
  StratumWeights weights;
  weights.add({{kLocks, known(WaitFor::Work, 30 * kSecond)}}, 1s);
  EXPECT_NEAR(weights.of(kLocks), std::sqrt(10.0 / 40), 1e-9);
  weights.add({}, StratumWeights::kHalfLife);
  EXPECT_NEAR(weights.of(kLocks), std::sqrt(10.0 / 25), 1e-9);
}

// The square root is the best exponent: two strata of 10 s of waiting a second each and a budget of
// 100 stacks a second; one has a twenty-fifth of its time in actionable waits.
TEST(StratumWeights, TheRootMakesTheVarianceLeast) {
  const double part = 1.0 / 25;
  const auto variance = [&](double exponent) {
    const double stretch = std::pow(part, -exponent);
    const double level = (10.0 + 10.0 / stretch) / 100;  // so that all stacks are 100
    return level * 10.0 + level * stretch * 10.0 * part;
  };
  for (const double exponent : {0.0, 0.25, 0.4, 0.6, 0.75, 1.0}) {
    EXPECT_LT(variance(0.5), variance(exponent)) << exponent;
  }
}

TEST(StratumTimesBoard, AddsUpWhatIsNotTaken) {
  StratumTimesBoard board;
  board.add({{kLocks, known(WaitFor::Lock, 1)}});
  board.add({{kLocks, known(WaitFor::Work, 2)}, {kPolls, known(WaitFor::Unknown, 3)}});
  const StratumTimes times = board.take();
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times.at(kLocks).actionable_ns, 1);
  EXPECT_EQ(times.at(kLocks).idle_ns, 2);
  EXPECT_EQ(times.at(kPolls).unknown_ns, 3);
  EXPECT_TRUE(board.take().empty());
}

}  // namespace
}  // namespace offcpud
