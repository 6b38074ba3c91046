// SPDX-License-Identifier: Apache-2.0
#include "histogram/wait_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "latency_slot.h"
#include "sample.h"

namespace offcpud {
namespace {

using Slots = std::array<double, OFFCPUD_SLOTS>;

Slots slots_of(const WaitEstimate& estimate) {
  Slots slots{};
  for (const WaitEstimate::Slot& each : estimate.slots) slots[each.slot] += each.waits;
  return slots;
}

// What the kernel's choice among these blocks says of them, at this sampling interval.
WaitEstimate sample(const std::vector<std::uint64_t>& blocks, std::uint64_t interval,
                    std::mt19937& random) {
  WaitEstimate estimate;
  for (const std::uint64_t ns : blocks) {
    const bool chosen =
        ns >= interval || offcpud_sample_chosen(ns, interval, static_cast<__u32>(random())) != 0;
    if (chosen) estimate.add(ns, std::max(ns, interval));
  }
  return estimate;
}

// The truth about them.
struct Truth {
  Slots waits{};
  double sum_ns = 0;
  explicit Truth(const std::vector<std::uint64_t>& blocks) {
    for (const std::uint64_t ns : blocks) {
      ++waits[offcpud_slot(ns)];
      sum_ns += static_cast<double>(ns);
    }
  }
};

std::vector<std::uint64_t> some_blocks(std::size_t count, std::mt19937& random) {
  std::lognormal_distribution<double> length(std::log(2e6), 1.5);  // 2 ms, with a long tail
  std::vector<std::uint64_t> blocks(count);
  for (auto& ns : blocks) ns = 1 + static_cast<std::uint64_t>(length(random));
  return blocks;
}

// Spec: over many runs the mean of the estimates is the truth within 3 of its standard errors, for
// the sum and for each bucket: a test of bias, not of spread.
TEST(WaitEstimate, IsUnbiasedInEveryBucket) {
  constexpr int kRuns = 400;
  constexpr std::uint64_t kInterval = 20'000'000;
  std::mt19937 random(14);
  const std::vector<std::uint64_t> blocks = some_blocks(2'000, random);
  const Truth truth(blocks);
  Slots mean{}, squares{};
  double mean_ns = 0, variance_ns2 = 0;
  for (int run = 0; run < kRuns; ++run) {
    const WaitEstimate estimate = sample(blocks, kInterval, random);
    const Slots slots = slots_of(estimate);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      mean[slot] += slots[slot] / kRuns;
      squares[slot] += slots[slot] * slots[slot] / kRuns;
    }
    mean_ns += estimate.sum_ns / kRuns;
    variance_ns2 += estimate.variance_ns2 / kRuns;
  }
  EXPECT_NEAR(mean_ns, truth.sum_ns, 3 * std::sqrt(variance_ns2 / kRuns));
  EXPECT_LT(std::sqrt(variance_ns2), truth.sum_ns / 5);
  // Of some 60 buckets one in 370 may be off by more than 3.
  int off = 0, seen = 0;
  for (std::size_t slot = 0; slot < mean.size(); ++slot) {
    const double error = std::sqrt(std::max(0.0, squares[slot] - mean[slot] * mean[slot]) / kRuns);
    seen += truth.waits[slot] > 0 ? 1 : 0;
    off += std::abs(mean[slot] - truth.waits[slot]) > 3 * error + 1e-6 ? 1 : 0;
  }
  EXPECT_GT(seen, 20);
  EXPECT_LE(off, 2);
}

// The reported variance is that which the sums have.
TEST(WaitEstimate, ItsVarianceIsTrue) {
  constexpr int kRuns = 1'000;
  std::mt19937 random(15);
  const std::vector<std::uint64_t> blocks = some_blocks(500, random);
  double sum = 0, squares = 0, said = 0;
  for (int run = 0; run < kRuns; ++run) {
    const WaitEstimate estimate = sample(blocks, 10'000'000, random);
    sum += estimate.sum_ns / kRuns;
    squares += estimate.sum_ns * estimate.sum_ns / kRuns;
    said += estimate.variance_ns2 / kRuns;
  }
  EXPECT_NEAR(said, squares - sum * sum, said * 0.15);
}

TEST(WaitEstimate, WhatIsLongerThanTheIntervalIsExact) {
  std::mt19937 random(1);
  const std::vector<std::uint64_t> blocks = {1'000'000, 5'000'000, 5'000'000, 70'000'000};
  const WaitEstimate estimate = sample(blocks, 1'000'000, random);
  EXPECT_EQ(slots_of(estimate), Truth(blocks).waits);
  EXPECT_EQ(estimate.sum_ns, 81'000'000);
  EXPECT_EQ(estimate.variance_ns2, 0);
}

TEST(WaitEstimate, AddsUpToOneOfAllBlocks) {
  WaitEstimate first, second, both;
  first.add(1'000, 4'000);
  both.add(1'000, 4'000);
  second.add(2'000'000, 2'000'000);
  second.add(1'000, 2'000);
  both.add(2'000'000, 2'000'000);
  both.add(1'000, 2'000);
  first += second;
  EXPECT_EQ(first, both);
}

// Shown numbers are whole, never go down, and never leave what was added by more than a half.
TEST(EstimatedHistogram, ShowsTheNearestWholeNumber) {
  std::mt19937 random(2);
  EstimatedHistogram total;
  std::vector<WaitEstimate> added;
  Slots sums{};
  double sum_ns = 0;
  std::uint64_t count = 0, shown_ns = 0;
  for (int window = 0; window < 200; ++window) {
    const WaitEstimate estimate = sample(some_blocks(50, random), 7'000'000, random);
    total += estimate;
    const Slots slots = slots_of(estimate);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      sums[slot] += slots[slot];
      ASSERT_NEAR(static_cast<double>(total.shown().slots[slot]), sums[slot], 0.51) << slot;
    }
    sum_ns += estimate.sum_ns;
    ASSERT_NEAR(static_cast<double>(total.shown().sum_ns), sum_ns, 1);
    ASSERT_GE(total.shown().count(), count);
    ASSERT_GE(total.shown().sum_ns, shown_ns);
    count = total.shown().count();
    shown_ns = total.shown().sum_ns;
  }
  EXPECT_GT(total.variance_ns2(), 0);
}

// Folding two series loses nothing of either.
TEST(EstimatedHistogram, TakesOverAnother) {
  EstimatedHistogram one, other;
  WaitEstimate estimate;
  estimate.add(1'000'000, 1'400'000);
  one += estimate;
  other += estimate;
  one += other;
  EXPECT_EQ(one.shown().count(), 3U);  // 1.4 + 1.4
  EXPECT_EQ(one.shown().sum_ns, 2'800'000U);
  EXPECT_EQ(one.variance_ns2(), 2 * 1.4e6 * 0.4e6);
  LatencyHistogram exact;
  exact.slots[3] = 7;
  exact.sum_ns = 9;
  one += exact;
  EXPECT_EQ(one.shown().count(), 10U);
  EXPECT_EQ(one.shown().sum_ns, 2'800'009U);
}

}  // namespace
}  // namespace offcpud
