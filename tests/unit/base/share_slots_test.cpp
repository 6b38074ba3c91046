// SPDX-License-Identifier: Apache-2.0
#include "base/share_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <random>

#include "support/times.h"

namespace offcpud {
namespace {

using test::at;
using ::testing::UnorderedElementsAre;
using Slot = ShareSlots::Slot;

constexpr ShareOwner kMine = 1, kOther = 2;

TEST(ShareSlots, AreNumberedFromZeroAndUsedAgain) {
  ShareSlots slots(3);
  EXPECT_EQ(slots.take(7, kMine, at(1)), 0U);
  EXPECT_EQ(slots.take(7, kMine, at(1)), 1U);
  slots.give_back(0);
  EXPECT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots.take(8, kMine, at(1)), 0U);
  EXPECT_EQ(slots.take(8, kMine, at(1)), 2U);
  EXPECT_TRUE(slots.is_full());
}

TEST(ShareSlots, TheLargestProcessOfTheLargestUserGivesItsOldest) {
  ShareSlots slots(6);
  slots.take(7, kMine, at(1));
  slots.take(20, kOther, at(2));
  const Slot oldest = slots.take(21, kOther, at(3));
  const Slot newer = slots.take(21, kOther, at(4));
  slots.take(21, kOther, at(5));
  slots.take(20, kOther, at(6));
  EXPECT_EQ(slots.who_gives_way(8, kMine, at(9)), oldest);
  EXPECT_EQ(slots.who_gives_way(22, kOther, at(9)), oldest);
  slots.touch(oldest, at(7));
  EXPECT_EQ(slots.who_gives_way(8, kMine, at(9)), newer);
  EXPECT_EQ(slots.touched(oldest), at(7));
}

TEST(ShareSlots, AProcessGivesItsOwnButNotOfThisVeryTime) {
  ShareSlots slots(3);
  const Slot oldest = slots.take(7, kMine, at(1));
  const Slot newer = slots.take(7, kMine, at(2));
  slots.take(8, kMine, at(2));
  EXPECT_EQ(slots.who_gives_way(7, kMine, at(2)), oldest);
  slots.touch(oldest, at(2));
  EXPECT_EQ(slots.who_gives_way(7, kMine, at(2)), std::nullopt);
  EXPECT_EQ(slots.who_gives_way(9, kMine, at(2)), newer) << "it has two, and nine has none";
}

TEST(ShareSlots, FindWhatWasNotTouched) {
  ShareSlots slots(9);
  for (int second = 1; second < 5; ++second) slots.take(7, kMine, at(second));
  slots.take(8, kMine, at(2));
  slots.touch(0, at(5));
  EXPECT_THAT(slots.untouched_since(at(3)), UnorderedElementsAre(1, 4));
  EXPECT_EQ(slots.oldest_of(7), 1U);
  EXPECT_EQ(slots.oldest_of(9), std::nullopt);
}

// Against lists that do the same slowly.
TEST(ShareSlots, RememberWhoseTheyAreAndTheirOrder) {
  constexpr std::size_t kMost = 20;
  ShareSlots slots(kMost);
  std::map<Slot, std::uint32_t> holders;
  std::map<std::uint32_t, std::list<Slot>> oldest_first;
  std::mt19937 random(3);
  const auto forget = [&](Slot slot) {
    oldest_first[holders.at(slot)].remove(slot);
    holders.erase(slot);
    slots.give_back(slot);
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto tgid = static_cast<std::uint32_t>(random() % 7);
    const ShareOwner owner = tgid % 2 == 0 ? kMine : kOther;
    const auto what = random() % 8;
    if (what == 0 && !holders.empty()) {
      forget(holders.begin()->first);
    } else if (what == 1 && !oldest_first[tgid].empty()) {
      const Slot slot = oldest_first[tgid].front();
      slots.touch(slot, at(i));
      oldest_first[tgid].splice(oldest_first[tgid].end(), oldest_first[tgid],
                                oldest_first[tgid].begin());
    } else {
      if (slots.is_full()) {
        const auto gone = slots.who_gives_way(tgid, owner, at(i));
        ASSERT_TRUE(gone);
        ASSERT_EQ(*gone, oldest_first[holders.at(*gone)].front());
        forget(*gone);
      }
      const Slot slot = slots.take(tgid, owner, at(i));
      ASSERT_TRUE(holders.emplace(slot, tgid).second) << "it was taken";
      oldest_first[tgid].push_back(slot);
    }
    ASSERT_EQ(slots.size(), holders.size());
    ASSERT_LE(slots.size(), kMost);
  }
}

}  // namespace
}  // namespace offcpud
