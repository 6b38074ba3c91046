// SPDX-License-Identifier: Apache-2.0
#include "pipeline/interval_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/thread_walks.h"

namespace offcpud {
namespace {

using test::waits;

TEST(IntervalHistogram, HoldsWhatCameSince) {
  const auto before = waits({1, 1, 1});
  const auto now = waits({1, 1, 1, 0.25, 0.25, 0.25, 8});
  IntervalHistogram histogram;
  histogram.add(now.get(), before.get());
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.quantile(0.5), 0.25);
  EXPECT_EQ(histogram.quantile(0.75), 0.25);
  EXPECT_EQ(histogram.quantile(0.99), 8);
  EXPECT_EQ(histogram.quantile(1), 8);
}

TEST(IntervalHistogram, AQuantileIsTheUpperBoundOfItsSlot) {
  IntervalHistogram histogram;
  histogram.add(waits({0.9}).get(), nullptr);
  EXPECT_EQ(histogram.quantile(0.5), 1);
  IntervalHistogram longest;
  longest.add(waits({200'000}).get(), nullptr);
  EXPECT_EQ(longest.quantile(1), std::numeric_limits<double>::infinity());
}

TEST(IntervalHistogram, NothingNewIsNothing) {
  const auto same = waits({1, 2});
  IntervalHistogram histogram;
  histogram.add(same.get(), same.get());
  histogram.add(nullptr, same.get());
  histogram.add(waits({1}).get(), same.get());  // went down
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.quantile(0.5), 0);
}

TEST(IntervalHistogram, AddsKinds) {
  IntervalHistogram histogram;
  histogram.add(waits({0.5}).get(), nullptr);
  histogram.add(waits({2, 2}).get(), nullptr);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.quantile(0.5), 2);
}

TEST(IntervalHistogram, KnowsTheMostThatCanLieWithinAnInterval) {
  IntervalHistogram histogram;
  histogram.add(waits({0.25, 0.25, 4096}).get(), nullptr);
  EXPECT_DOUBLE_EQ(histogram.most_seconds_within(10), 10.5);
}

}  // namespace
}  // namespace offcpud
