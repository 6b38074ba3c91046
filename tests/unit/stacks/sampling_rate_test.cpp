// SPDX-License-Identifier: Apache-2.0
#include "stacks/sampling_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sample.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

TEST(SamplingRate, KeepsTheIntervalWithinTheBudget) {
  SamplingRate rate(200, 10ms);
  EXPECT_EQ(rate.interval(), 10ms);
  EXPECT_EQ(rate.adapt(200, 1s), 10ms);
  EXPECT_EQ(rate.adapt(400, 2s), 10ms);
}

TEST(SamplingRate, FollowsTheNumberOfStacks) {
  SamplingRate rate(200, 10ms);
  EXPECT_EQ(rate.adapt(300, 1s), 15ms);
  EXPECT_EQ(rate.adapt(200, 1s), 15ms);
  EXPECT_EQ(rate.adapt(160, 1s), 12ms);
  EXPECT_EQ(rate.interval(), 12ms);
}

TEST(SamplingRate, HalvesOrDoublesAtMost) {
  SamplingRate rate(200, 10ms);
  EXPECT_EQ(rate.adapt(1'000'000'000, 1s), 20ms);
  EXPECT_EQ(rate.adapt(0, 1s), 10ms);
  EXPECT_EQ(rate.adapt(1, 1s), 5ms);
}

TEST(SamplingRate, StaysWithinItsBounds) {
  EXPECT_EQ(SamplingRate(200, 1ns).interval(), SamplingRate::kLeast);
  EXPECT_EQ(SamplingRate(200, 24h).interval(), SamplingRate::kMost);
  SamplingRate idle(200, 10ms), busy(200, 10ms);
  for (int i = 0; i < 40; ++i) {
    idle.adapt(0, 1s);
    busy.adapt(1'000'000, 1s);
  }
  EXPECT_EQ(idle.interval(), SamplingRate::kLeast);
  EXPECT_EQ(busy.interval(), SamplingRate::kMost);
}

TEST(SamplingRate, LearnsNothingFromNoTime) {
  SamplingRate rate(200, 10ms);
  EXPECT_EQ(rate.adapt(1000, 0s), 10ms);
  EXPECT_EQ(rate.adapt(1000, -1s), 10ms);
}

TEST(SamplingRate, TakesOneStackASecondAtLeast) {
  SamplingRate rate(0, 10ms);
  EXPECT_EQ(rate.adapt(1, 1s), 10ms);
  rate.set_budget(0);
  EXPECT_EQ(rate.adapt(0, 1s), 5ms);
  EXPECT_EQ(rate.adapt(1, 1s), 5ms);
}

TEST(SamplingRate, AdaptsToANewBudget) {
  SamplingRate rate(200, 10ms);
  rate.set_budget(400);
  EXPECT_EQ(rate.adapt(200, 1s), 5ms);
}

// A host that blocks many times a second for lengths with a long tail, sampled as the programs do.
class Host {
 public:
  explicit Host(double blocks_per_second) : blocks_(blocks_per_second) {}

  std::uint64_t sampled_in_a_second(std::chrono::nanoseconds interval) {
    const auto most = static_cast<std::uint64_t>(interval.count());
    std::uint64_t chosen = 0;
    for (int i = std::poisson_distribution<>(blocks_)(random_); i > 0; --i) {
      const auto ns = static_cast<std::uint64_t>(length_(random_));
      chosen += ns >= most || offcpud_sample_chosen(ns, most, static_cast<__u32>(random_()));
    }
    return chosen;
  }

 private:
  double blocks_;
  std::mt19937 random_{1};
  std::lognormal_distribution<double> length_{std::log(300e3), 2};
};

TEST(SamplingRate, ConvergesNearTheBudget) {
  for (const double blocks_per_second : {2'000.0, 50'000.0}) {
    for (const std::chrono::nanoseconds initial : {100'000ns, 10'000'000ns, 60'000'000'000ns}) {
      Host host(blocks_per_second);
      SamplingRate rate(200, initial);
      for (int second = 0; second < 30; ++second) {
        rate.adapt(static_cast<double>(host.sampled_in_a_second(rate.interval())), 1s);
      }
      double taken = 0;
      for (int second = 0; second < 20; ++second) {
        const std::uint64_t samples = host.sampled_in_a_second(rate.interval());
        EXPECT_LT(samples, 400U);
        taken += static_cast<double>(samples);
        rate.adapt(static_cast<double>(samples), 1s);
      }
      EXPECT_NEAR(taken / 20, 200, 20) << blocks_per_second << " from " << initial.count();
    }
  }
}

}  // namespace
}  // namespace offcpud
