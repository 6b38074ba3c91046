// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "unwind/address_prefixes.h"
#include "unwind/row_space.h"
#include "unwind/rule_dictionary.h"

namespace offcpud {
namespace {

TEST(AddressPrefixes, CoverExactlyTheRange) {
  const std::uint64_t begin = 0x7f1234567000, end = 0x7f1234a01000;
  std::uint64_t next = begin;
  for (const auto& key : address_prefixes(0x01020304, begin, end)) {
    EXPECT_EQ(key.tgid, htobe32(0x01020304));
    const std::uint64_t size = std::uint64_t{1} << (OFFCPUD_UNWIND_KEY_BITS - key.prefix_bits);
    EXPECT_EQ(be64toh(key.address), next);
    EXPECT_EQ(next % size, 0U);
    next += size;
  }
  EXPECT_EQ(next, end);
}

TEST(AddressPrefixes, AreFewAtAnyAddress) {
  EXPECT_TRUE(address_prefixes(1, 5, 5).empty());
  EXPECT_EQ(address_prefixes(1, 0x400000, 0x800000).size(), 1U);
  EXPECT_EQ(address_prefixes(1, 0x400000, 0x401000).front().prefix_bits, 96U - 12);
  EXPECT_LE(address_prefixes(1, 1, UINT64_MAX).size(), 128U);
  EXPECT_LE(address_prefixes(1, 0, UINT64_MAX).size(), 128U);
}

TEST(RowSpace, HandsOutNoRowTwice) {
  RowSpace space;
  EXPECT_FALSE(space.take(1));
  space.add_chunk();
  space.add_chunk();
  std::vector<std::vector<bool>> used(2, std::vector<bool>(OFFCPUD_UNWIND_CHUNK_ROWS));
  std::vector<RowExtent> taken;
  std::mt19937 random(1);
  std::uint64_t sum = 0;
  const auto mark = [&](const RowExtent& extent, bool value) {
    for (std::uint32_t i = 0; i < extent.rows; ++i) {
      ASSERT_NE(used[extent.chunk][extent.first + i], value);
      used[extent.chunk][extent.first + i] = value;
    }
  };
  for (int round = 0; round < 3000; ++round) {
    const auto rows = static_cast<std::uint32_t>(1 + random() % 2000);
    if (const auto extent = random() % 3 ? space.take(rows) : std::nullopt) {
      mark(*extent, true);
      taken.push_back(*extent);
      sum += rows;
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      mark(taken.back(), false);
      sum -= taken.back().rows;
      space.give_back(taken.back());
      taken.pop_back();
    }
    ASSERT_EQ(space.rows_in_use(), sum);
  }
  for (const RowExtent& extent : taken) space.give_back(extent);
  EXPECT_TRUE(space.take(OFFCPUD_UNWIND_CHUNK_ROWS));  // neighbours have been joined
  EXPECT_TRUE(space.take(OFFCPUD_UNWIND_CHUNK_ROWS));
  EXPECT_FALSE(space.take(1));
}

UnwindRule with_offset(std::int32_t offset) {
  return {.kind = OFFCPUD_UNWIND_RSP, .cfa_offset = offset};
}

TEST(RuleDictionary, KeepsEveryRuleOnce) {
  RuleDictionary dictionary;
  const auto first = dictionary.take(with_offset(8));
  const auto again = dictionary.take(with_offset(8));
  ASSERT_TRUE(first && again);
  EXPECT_TRUE(first->is_new);
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(first->index, again->index);
  EXPECT_EQ(dictionary.size(), 3U);  // with the two of every dictionary
  EXPECT_EQ(dictionary.take(plain_rule(OFFCPUD_UNWIND_INVALID))->index,
            OFFCPUD_UNWIND_RULE_INVALID);
  EXPECT_EQ(dictionary.take(plain_rule(OFFCPUD_UNWIND_NO_FDE))->index, OFFCPUD_UNWIND_RULE_NO_FDE);
}

TEST(RuleDictionary, UsesAnIndexAgainAfterItsLastUser) {
  RuleDictionary dictionary(4);
  const auto a = dictionary.take(with_offset(8));
  (void)dictionary.take(with_offset(8));
  (void)dictionary.take(with_offset(16));
  EXPECT_FALSE(dictionary.take(with_offset(24)));
  dictionary.give_back(a->index);
  EXPECT_FALSE(dictionary.take(with_offset(24)));
  dictionary.give_back(a->index);
  const auto c = dictionary.take(with_offset(24));
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->is_new);
  EXPECT_EQ(c->index, a->index);
}

}  // namespace
}  // namespace offcpud
