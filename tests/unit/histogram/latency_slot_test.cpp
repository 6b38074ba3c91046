// SPDX-License-Identifier: Apache-2.0
// The slot arithmetic that runs in the kernel, checked on the host against the definition of the
// grid.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

#include "histogram/latency_histogram.h"

namespace offcpud {
namespace {

// Independent of the table: the first k whose bound 2^((k - 80) / 4) s is at least ns.
unsigned slot_by_definition(std::uint64_t ns) {
  const long double seconds = static_cast<long double>(ns) / 1e9L;
  for (unsigned k = 0; k < OFFCPUD_SLOT_BOUNDS; ++k) {
    if (seconds <= std::exp2((static_cast<long double>(k) - 80) / 4)) return k;
  }
  return OFFCPUD_SLOTS - 1;
}

TEST(LatencySlot, EveryBoundIsInclusiveAndTheNextNanosecondIsAbove) {
  for (unsigned k = 0; k < OFFCPUD_SLOT_BOUNDS; ++k) {
    EXPECT_EQ(offcpud_slot(offcpud_slot_bound_ns[k]), k);
    EXPECT_EQ(offcpud_slot(offcpud_slot_bound_ns[k] + 1), k + 1);
  }
}

TEST(LatencySlot, BoundsAreTheFloorOfTheExactBound) {
  for (unsigned k = 0; k < OFFCPUD_SLOT_BOUNDS; ++k) {
    const std::uint64_t bound = offcpud_slot_bound_ns[k];
    EXPECT_EQ(slot_by_definition(bound), k) << bound;
    EXPECT_EQ(slot_by_definition(bound + 1), k + 1) << bound;
  }
}

TEST(LatencySlot, ExactPowersOfTwoOfASecondAreTheirOwnBound) {
  for (unsigned power = 0; power <= 17; ++power) {
    EXPECT_EQ(offcpud_slot((std::uint64_t{1} << power) * 1'000'000'000), 80 + 4 * power);
  }
}

TEST(LatencySlot, RandomValuesAgreeWithTheDefinition) {
  std::mt19937_64 random(19435);  // NOLINT(cert-msc51-cpp): the same values in every run
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t ns = random() >> (random() % 64);
    EXPECT_EQ(offcpud_slot(ns), slot_by_definition(ns)) << ns;
  }
}

TEST(LatencySlot, LongWaitsAreNotTruncatedTo32Bits) {
  EXPECT_EQ(offcpud_slot(2'147'483'648), slot_by_definition(2'147'483'648));
  EXPECT_EQ(offcpud_slot(3'000'000'000), slot_by_definition(3'000'000'000));
  EXPECT_EQ(offcpud_slot(3'600'000'000'000), slot_by_definition(3'600'000'000'000));
}

TEST(LatencySlot, ExtremesHaveASlot) {
  EXPECT_EQ(offcpud_slot(0), 0U);
  EXPECT_EQ(offcpud_slot(1), 0U);
  EXPECT_EQ(offcpud_slot(OFFCPUD_LAST_BOUND_NS + 1), OFFCPUD_SLOTS - 1U);
  EXPECT_EQ(offcpud_slot(std::numeric_limits<std::uint64_t>::max()), OFFCPUD_SLOTS - 1U);
}

TEST(LatencyHistogram, ClassicBoundsAreSlotBoundsAndReadBackExactly) {
  for (const unsigned count : {28U, 14U}) {
    const auto buckets = classic_buckets(count);
    ASSERT_EQ(buckets.size(), count);
    for (const ClassicBucket& bucket : buckets) {
      EXPECT_EQ(std::strtod(bucket.upper_bound, nullptr), slot_bound_seconds(bucket.last_slot));
    }
  }
}

TEST(LatencyHistogram, AddsShardsSlotBySlot) {
  offcpud_hist shard{};
  shard.sum_ns = 7;
  shard.slots[3] = 2;
  LatencyHistogram total;
  EXPECT_TRUE(total.empty());
  total += shard;
  total += shard;
  EXPECT_EQ(total.sum_ns, 14U);
  EXPECT_EQ(total.slots[3], 4U);
  EXPECT_EQ(total.count(), 4U);
  EXPECT_FALSE(total.empty());
}

}  // namespace
}  // namespace offcpud
