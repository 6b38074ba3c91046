// SPDX-License-Identifier: Apache-2.0
#include "stacks/block_share.h"

#include <gtest/gtest.h>

#include "support/sampled_blocks.h"
#include "support/times.h"

namespace offcpud {
namespace {

using test::BlockRecord;
using test::kMs;

// A block of `length` of which walks have credited `before`; it lasts, or ends now.
BlockRecord block(std::uint64_t length, std::uint64_t before, bool lasts = false) {
  BlockRecord record(length - before);
  record.sample.ended_ns = record.sample.since_ns + length;
  record.sample.whole_ns = lasts ? 0 : length;
  if (lasts) record.flagged(OFFCPUD_SAMPLE_IN_PROGRESS);
  return record;
}

BlockFilter lengths(std::uint64_t least, std::uint64_t most = BlockFilter::kNoMaximum) {
  BlockFilter filter;
  filter.min_ns = least;
  filter.max_ns = most;
  return filter;
}

std::uint64_t in_series(const BlockFilter& filter, const BlockRecord& record) {
  return weight_in_series(record.sample, filter, 0);
}

TEST(BlockShare, OfABlockTheSeriesHasEachPartOnce) {
  EXPECT_EQ(in_series({}, block(400 * kMs, 0, true)), 400 * kMs);
  EXPECT_EQ(in_series({}, block(1000 * kMs, 400 * kMs, true)), 600 * kMs);
  EXPECT_EQ(in_series({}, block(1100 * kMs, 1000 * kMs)), 100 * kMs);
}

// A walk at 400 ms and one at 1000 ms; it ends at 1100 ms.
TEST(BlockShare, TheFirstPartThatIsLongEnoughMakesUpForThoseThatWereNot) {
  const BlockFilter filter = lengths(500 * kMs);
  EXPECT_EQ(in_series(filter, block(400 * kMs, 0, true)), 0U);
  EXPECT_EQ(in_series(filter, block(1000 * kMs, 400 * kMs, true)), 1000 * kMs);
  EXPECT_EQ(in_series(filter, block(1100 * kMs, 1000 * kMs)), 100 * kMs);
  EXPECT_EQ(in_series(lengths(1050 * kMs), block(1100 * kMs, 1000 * kMs)), 1100 * kMs);
  EXPECT_EQ(in_series(lengths(1200 * kMs), block(1100 * kMs, 1000 * kMs)), 0U);
}

TEST(BlockShare, WithALongestBlockOnlyEndsCountAndWhole) {
  const BlockFilter filter = lengths(0, 1050 * kMs);
  EXPECT_EQ(in_series(filter, block(400 * kMs, 0, true)), 0U);
  EXPECT_EQ(in_series(filter, block(1000 * kMs, 400 * kMs, true)), 0U);
  EXPECT_EQ(in_series(filter, block(1040 * kMs, 1000 * kMs)), 1040 * kMs);
  EXPECT_EQ(in_series(filter, block(1060 * kMs, 1000 * kMs)), 0U);
}

// A block of 1002 ms that was chosen with probability 1/5 counts five times, each fifth time, and
// so does its rest of 2 ms; even a block of which the last walk left nothing.
TEST(BlockShare, WhatIsMadeUpForIsRightOnAverage) {
  for (const std::uint64_t rest_ms : {2, 0}) {
    BlockRecord rest = block(1002 * kMs, (1002 - rest_ms) * kMs);
    rest.sample.weight_ns = 5 * rest_ms * kMs;
    rest.sample.whole_ns = 5 * 1002 * kMs;
    EXPECT_EQ(in_series(lengths(0, 2000 * kMs), rest), 5 * 1002 * kMs);
    EXPECT_EQ(in_series({}, rest), 5 * rest_ms * kMs);
  }
}

TEST(BlockShare, NothingIsMadeUpForThatAnotherFilterMayHaveTaken) {
  const BlockRecord rest = block(1040 * kMs, 1000 * kMs);
  const BlockFilter filter = lengths(0, 2000 * kMs);
  EXPECT_EQ(weight_in_series(rest.sample, filter, rest.sample.since_ns), 1040 * kMs);
  EXPECT_EQ(weight_in_series(rest.sample, filter, rest.sample.since_ns + 1), 40 * kMs);
}

TEST(BlockShare, AProfileHasNothingOfTheTimeBefore) {
  const BlockRecord ended = block(1000 * kMs, 0);
  const std::uint64_t end = ended.sample.ended_ns;
  EXPECT_EQ(weight_alone(ended.sample, {}, ended.sample.since_ns - 1), 1000 * kMs);
  EXPECT_EQ(weight_alone(ended.sample, {}, end - 300 * kMs), 300 * kMs);
  EXPECT_EQ(weight_alone(ended.sample, {}, end), 0U);
  EXPECT_EQ(weight_alone(block(1000 * kMs, 900 * kMs).sample, {}, end - 300 * kMs), 100 * kMs);
  const BlockRecord lasts = block(1000 * kMs, 0, true);
  EXPECT_EQ(weight_alone(lasts.sample, lengths(0, 2000 * kMs), end - 300 * kMs), 300 * kMs);
}

}  // namespace
}  // namespace offcpud
