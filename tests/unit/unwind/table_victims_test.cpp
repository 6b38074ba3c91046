// SPDX-License-Identifier: Apache-2.0
#include "unwind/table_victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/users.h"

namespace offcpud {
namespace {

using test::kHog;
using test::kOther;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr ShareOwner kAlly = 65533, kRoot = 0;
constexpr std::uint64_t kAll = 1000;

TableHolder mapped(std::uint32_t object, std::vector<ShareOwner> by, std::uint64_t held) {
  return {object, std::move(by), false, held};
}
TableHolder unused(std::uint32_t object, ShareOwner of, std::uint64_t held) {
  return {object, {of}, true, held};
}
std::vector<std::uint32_t> victims(std::vector<TableHolder> holders, const ShareOwner& asks,
                                   std::uint64_t wanted, std::uint64_t capacity = kAll) {
  TableVictims found(std::move(holders), {asks}, wanted, capacity);
  std::vector<std::uint32_t> order;
  while (const auto one = found.next()) order.push_back(*one);
  return order;
}

TEST(TableVictims, TheUnusedOfTheLargestGoFirst) {
  EXPECT_THAT(victims({unused(1, kOther, 10), unused(2, kHog, 5), unused(3, kHog, 5),
                       mapped(4, {kHog}, 500), mapped(5, {kOther}, 10)},
                      kRoot, 20),
              ElementsAre(2, 3, 4));
}

TEST(TableVictims, TheHogGetsNothingOfOthers) {
  EXPECT_THAT(victims({unused(1, kOther, 10), mapped(2, {kOther}, 90), mapped(3, {kRoot}, 200),
                       mapped(4, {kHog}, 700)},
                      kHog, 10),
              IsEmpty());
  // But his own, which nobody uses.
  EXPECT_THAT(
      victims({unused(1, kOther, 10), unused(2, kHog, 90), mapped(4, {kHog}, 700)}, kHog, 10),
      ElementsAre(2));
}

TEST(TableVictims, AUserWithLittleGetsRoomFromTheLargest) {
  EXPECT_THAT(victims({mapped(1, {kRoot}, 300), mapped(2, {kHog}, 100), mapped(3, {kHog}, 500),
                       mapped(4, {kOther}, 50)},
                      kOther, 50),
              ElementsAre(3, 1));  // then the hog has no more than the one who asks would have
}

// By mapping what others map, first or later, nobody gets rid of it.
TEST(TableVictims, WhatOthersMapIsTheirsAsWell) {
  EXPECT_THAT(victims({mapped(1, {kHog, kOther}, 100), mapped(2, {kHog, kOther, kRoot}, 20),
                       mapped(3, {kHog}, 1), mapped(4, {kHog}, 800)},
                      kRoot, 100),
              ElementsAre(4, 3));
  // Nor keeps two users' tables by mapping them as each of the two.
  EXPECT_THAT(victims({mapped(1, {kHog, kAlly}, 400), mapped(2, {kHog, kAlly}, 400),
                       mapped(3, {kHog, kOther}, 100)},
                      kRoot, 100),
              ElementsAre(1, 2));
}

TEST(TableVictims, AmongOneUsersOnlyWhatNobodyUses) {
  EXPECT_THAT(
      victims({unused(1, kRoot, 10), mapped(2, {kRoot}, 900), unused(3, kRoot, 10)}, kRoot, 100),
      ElementsAre(1, 3));
  EXPECT_THAT(victims({unused(1, {}, 10), mapped(2, std::vector<ShareOwner>(1), 900)}, {}, 100),
              ElementsAre(1));
}

// What somebody does not use gives way to those with more as far as it is much.
TEST(TableVictims, OfTheUnusedAnEighthStays) {
  EXPECT_THAT(victims({unused(1, kOther, 100), unused(2, kOther, 60), unused(3, kOther, 60),
                       mapped(4, {kRoot}, 780)},
                      kRoot, 100),
              ElementsAre(1));
}

// So that tables without number need not be compared for each of them.
TEST(TableVictims, HisOwnUnusedOnesGoTogether) {
  TableVictims found(
      {unused(1, kHog, 5), unused(2, kHog, 5), unused(3, kOther, 5), mapped(4, {kHog}, 5)}, {kHog},
      1, kAll);
  EXPECT_EQ(found.next(), 1U);
  EXPECT_EQ(found.next_of_own(), 2U);
  EXPECT_EQ(found.next_of_own(), std::nullopt);
}

// A file that is made again counts for all who map it.
TEST(TableVictims, ATableThatSeveralWantCountsForTheOneWithLeast) {
  std::vector<TableHolder> holders{mapped(1, {kHog}, 700), mapped(2, {kRoot}, 250)};
  TableVictims found(holders, {kHog, kOther}, 50, kAll);
  EXPECT_EQ(found.next(), 1U);
}

}  // namespace
}  // namespace offcpud
