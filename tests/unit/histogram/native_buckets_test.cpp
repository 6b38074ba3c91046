// SPDX-License-Identifier: Apache-2.0
#include "histogram/native_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace offcpud {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NativeBuckets buckets_of(std::initializer_list<std::pair<std::size_t, std::uint64_t>> slots) {
  LatencyHistogram histogram;
  for (const auto& [slot, count] : slots) histogram.slots[slot] = count;
  NativeBuckets buckets;
  buckets.assign(histogram);
  return buckets;
}

TEST(NativeBuckets, AnEmptyHistogramAndTheZeroBucketHaveNone) {
  EXPECT_THAT(buckets_of({}).spans, IsEmpty());
  EXPECT_THAT(buckets_of({{0, 7}}).spans, IsEmpty());
  EXPECT_THAT(buckets_of({{0, 7}}).deltas, IsEmpty());
}

TEST(NativeBuckets, CountsAreDifferencesToTheBucketBefore) {
  const NativeBuckets buckets = buckets_of({{80, 5}, {81, 3}, {82, 3}});
  EXPECT_THAT(buckets.spans, ElementsAre(BucketSpan{0, 3}));
  EXPECT_THAT(buckets.deltas, ElementsAre(5, -2, 0));
}

TEST(NativeBuckets, ASmallGapIsFilledAndALargerOneBeginsASpan) {
  const NativeBuckets filled = buckets_of({{1, 4}, {4, 1}});
  EXPECT_THAT(filled.spans, ElementsAre(BucketSpan{-79, 4}));
  EXPECT_THAT(filled.deltas, ElementsAre(4, -4, 0, 1));
  const NativeBuckets split = buckets_of({{1, 4}, {5, 1}});
  EXPECT_THAT(split.spans, ElementsAre(BucketSpan{-79, 1}, BucketSpan{3, 1}));
  EXPECT_THAT(split.deltas, ElementsAre(4, -3));
}

TEST(NativeBuckets, SpansGoOnWhereAWordOfSlotsEnds) {
  const NativeBuckets buckets = buckets_of({{63, 1}, {64, 2}, {126, 1}, {129, 2}});
  EXPECT_THAT(buckets.spans, ElementsAre(BucketSpan{-17, 2}, BucketSpan{61, 4}));
  EXPECT_THAT(buckets.deltas, ElementsAre(1, 1, -1, -1, 0, 2));
}

TEST(NativeBuckets, TheCountIsThatOfTheHistogram) {
  for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
    EXPECT_EQ(buckets_of({{slot, 3}, {(slot + 70) % OFFCPUD_SLOTS, 4}}).count, 7U) << slot;
  }
  EXPECT_EQ(buckets_of({}).count, 0U);
}

// The definition of schema n: bucket i is (2^((i-1)/2^n), 2^(i/2^n)].
TEST(NativeBuckets, ABucketEndsWhereItsSlotEnds) {
  for (std::size_t slot = 1; slot < OFFCPUD_SLOT_BOUNDS; ++slot) {
    const NativeBuckets buckets = buckets_of({{slot, 1}});
    ASSERT_EQ(buckets.spans.size(), 1U);
    const double bound = std::exp2(buckets.spans[0].offset / std::exp2(OFFCPUD_SCHEMA));
    EXPECT_DOUBLE_EQ(bound, slot_bound_seconds(slot)) << slot;
  }
  EXPECT_EQ(kZeroThresholdSeconds, slot_bound_seconds(0));
}

TEST(NativeBuckets, WhatIsBeyondTheLastBoundIsInTheBucketAfterIt) {
  const NativeBuckets buckets = buckets_of({{OFFCPUD_SLOTS - 1, 2}});
  EXPECT_THAT(buckets.spans, ElementsAre(BucketSpan{4 * OFFCPUD_LAST_OCTAVE + 1, 1}));
}

}  // namespace
}  // namespace offcpud
