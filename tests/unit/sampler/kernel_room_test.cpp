// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/sampler/kernel_room_fixture.h"

namespace offcpud {
namespace {

TEST_F(KernelRoomTest, ASmallOneGetsItsPlaceFromTheOneWithMost) {
  users = {{10, 65534}};
  EXPECT_EQ(put(20, 100), 100U);
  EXPECT_EQ(put(10, 580), 580U);
  EXPECT_EQ(put(30, 60), 60U);
  EXPECT_LT(held(10), 580U);
  EXPECT_GT(held(10), 500U) << "as much as is needed, and the rest by and by";
  remove_all();
  EXPECT_EQ(held(10), 0U);
  EXPECT_EQ(held(20), 100U);
  ASSERT_EQ(room->over_share().size(), 1U);
  EXPECT_EQ(room->over_share().front(), (OverShare{10, 65534, 580}));
  EXPECT_FALSE(room->admits(10));
}

TEST_F(KernelRoomTest, TheOneWithMostGoesWithoutAndLeavesNothingBehind) {
  EXPECT_EQ(put(20, 100), 100U);
  EXPECT_LT(put(10, 2000), 700U);
  remove_all();
  EXPECT_EQ(held(10), 0U);
  EXPECT_EQ(tables->prefixes(), 100U);
  EXPECT_EQ(maps.mappings.size(), 100U);
  EXPECT_EQ(room->taken_out(), 1U);
}

TEST_F(KernelRoomTest, ManyProcessesOfOneUserGiveWayToAnotherUser) {
  for (std::uint32_t tgid = 100; tgid < 120; ++tgid) {
    users[tgid] = 65534;
    (void)put(tgid, 35);
  }
  EXPECT_EQ(put(20, 300), 300U);  // larger than each of them, and not than all
  EXPECT_GT(room->taken_out(), 5U);
}

TEST_F(KernelRoomTest, ChildrenOfLargeOnesWaitForTheirTurnSmallestFirst) {
  EXPECT_FALSE(room->began(13, 100)) << "there is no time to spare";
  EXPECT_TRUE(room->ended(13));
  earn();
  EXPECT_TRUE(room->began(10, 100));
  EXPECT_FALSE(room->began(11, 3000));
  EXPECT_FALSE(room->began(12, 2000));
  EXPECT_FALSE(room->admits(11));
  EXPECT_EQ(next(), 12U);
  spend(std::chrono::milliseconds(51));
  EXPECT_EQ(next(), std::nullopt) << "more than a tenth of the time";
  now += std::chrono::milliseconds(100);
  EXPECT_EQ(next(), 11U);
  EXPECT_TRUE(room->admits(11));
}

TEST_F(KernelRoomTest, WhoIsInInPartIsAdmittedAndGoesOnThere) {
  EXPECT_FALSE(room->began(12, 2000));
  now += std::chrono::seconds(1);
  auto entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->from, 0U);
  entering->from = 7 * kPage;
  room->put_rest(*entering);
  EXPECT_TRUE(room->admits(12));
  EXPECT_TRUE(room->puts_now(12, 6 * kPage));
  EXPECT_FALSE(room->puts_now(12, 7 * kPage));
  spend(std::chrono::milliseconds(60));
  EXPECT_EQ(next(), std::nullopt) << "there is no time left";
  now += std::chrono::seconds(1);
  entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->tgid, 12U);
  EXPECT_EQ(entering->from, 7 * kPage);
  EXPECT_TRUE(room->puts_now(12, 7 * kPage));
  room->put_rest(*entering);
  EXPECT_TRUE(room->ended(12));
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(KernelRoomTest, ASmallOneDoesNotWaitUntilALargeOneIsIn) {
  EXPECT_FALSE(room->began(11, 60'000));
  now += std::chrono::seconds(1);
  EXPECT_EQ(step(), 11U);
  EXPECT_FALSE(room->began(12, 1100));
  const auto first = step(), second = step();
  EXPECT_TRUE(first == 12U || second == 12U);
}

TEST_F(KernelRoomTest, ALargeOneGetsInHoweverManySmallOnesCome) {
  EXPECT_FALSE(room->began(11, 60'000));
  now += std::chrono::seconds(1);
  int steps = 0;
  for (std::uint32_t tgid = 100; tgid < 140; ++tgid) {
    EXPECT_FALSE(room->began(tgid, 1100));
    const auto stepped = next_entry();
    ASSERT_TRUE(stepped);
    if (stepped->tgid != 11U) continue;
    ++steps;
    room->put_rest(*stepped);
  }
  EXPECT_EQ(steps, 20);
}

TEST_F(KernelRoomTest, UsersTakeTurns) {
  for (std::uint32_t tgid = 100; tgid < 200; ++tgid) {
    users[tgid] = 65534;
    EXPECT_FALSE(room->began(tgid, 1100));
  }
  now += std::chrono::seconds(1);
  EXPECT_TRUE(step());
  users[20] = 1000;
  EXPECT_FALSE(room->began(20, 60'000));
  int steps = 0;
  for (int i = 0; i < 40; ++i) steps += step() == 20U ? 1 : 0;
  EXPECT_GE(steps, 10);
}

TEST_F(KernelRoomTest, TheRestOfAnAdmittedOneWaitsForItsTurn) {
  EXPECT_TRUE(room->began(10, 0));
  EXPECT_TRUE(room->puts_now(10, 9 * kPage));
  room->put_later(10, 9 * kPage);
  room->put_later(10, 5 * kPage);
  room->put_later(10, 7 * kPage);
  EXPECT_TRUE(room->admits(10));
  EXPECT_TRUE(room->puts_now(10, 4 * kPage));
  EXPECT_FALSE(room->puts_now(10, 5 * kPage));
  now += std::chrono::seconds(1);
  const auto entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->tgid, 10U);
  EXPECT_EQ(entering->from, 5 * kPage);
  EXPECT_TRUE(room->puts_now(10, 5 * kPage));
  EXPECT_EQ(next(), std::nullopt);
}

struct EndedRoomTest : KernelRoomTest {
  EndedRoomTest() {
    maps.max_mappings = 5000;
    EXPECT_EQ(put(10, 3000), 3000U);
    EXPECT_TRUE(room->ended(10));
  }
};

TEST_F(EndedRoomTest, WhatALargeOneLeavesIsRemovedByAndBy) {
  std::size_t before = tables->prefixes(), most = 0;
  while (*room->remove_some()) {
    most = std::max(most, before - tables->prefixes());
    before = tables->prefixes();
  }
  EXPECT_EQ(tables->prefixes(), 0U);
  EXPECT_TRUE(maps.mappings.empty());
  EXPECT_LE(most, 16U);
  EXPECT_GT(most, 0U);
}

TEST_F(EndedRoomTest, TheNextOfThatNumberFindsNothing) {
  EXPECT_TRUE(*room->remove_some());
  EXPECT_FALSE(room->began(10, 0)) << "to remove all of it at once would take too long";
  now += std::chrono::seconds(1);
  EXPECT_EQ(next(), std::nullopt);
  remove_all();
  EXPECT_TRUE(maps.mappings.empty());
  EXPECT_EQ(next(), 10U);
  EXPECT_EQ(put(10, 100), 100U);
  remove_all();
  EXPECT_EQ(held(10), 100U) << "they are not those that ended";
}

TEST_F(EndedRoomTest, AFailureLeavesNothingElseBehind) {
  maps.fails_to_remove = true;
  EXPECT_FALSE(room->remove_some());
  maps.fails_to_remove = false;
  remove_all();
  EXPECT_EQ(tables->prefixes(), 0U);
  EXPECT_EQ(maps.mappings.size(), 16U) << "those that failed";
}

TEST_F(EndedRoomTest, WhatEndedGivesWayAsFarAsNeeded) {
  EXPECT_EQ(put(20, 2000), 2000U);
  EXPECT_GT(held(10), 2600U);
}

// Of two that ended, the small one does not wait until the large one is gone.
TEST_F(EndedRoomTest, ThoseThatEndedTakeTurns) {
  EXPECT_EQ(put(20, 100), 100U);
  EXPECT_TRUE(room->ended(20));
  for (int step = 0; step < 14; ++step) EXPECT_TRUE(*room->remove_some());
  EXPECT_EQ(held(20), 0U);
  EXPECT_GT(held(10), 2800U);
}

TEST_F(EndedRoomTest, NobodyGivesWayToWhatAnEndedOneLeft) {
  EXPECT_EQ(put(20, 4000), 4000U);
  EXPECT_EQ(room->taken_out(), 0U);
}

TEST_F(KernelRoomTest, WhoIsTakenOutWhenInInPartBeginsAnew) {
  maps.max_mappings = 700;
  EXPECT_FALSE(room->began(10, 600));
  now += std::chrono::seconds(1);
  auto entering = next_entry();
  ASSERT_TRUE(entering);
  (void)put(10, 600);  // more than there is room for
  EXPECT_FALSE(room->admits(10));
  entering->from = 100 * kPage;
  room->put_rest(*entering);
  EXPECT_FALSE(room->admits(10));
  remove_all();
  entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->from, 0U);
}

TEST_F(KernelRoomTest, WhatIsDoneAtOnceLeavesTimeForThoseThatWait) {
  earn();
  EXPECT_TRUE(room->has_time_for(10, 1000));
  EXPECT_FALSE(room->has_time_for(10, 2000));
  room->spend(KernelRoom::When::AtOnce, std::chrono::milliseconds(26));
  EXPECT_FALSE(room->has_time_for(10, 1000));
  EXPECT_TRUE(room->has_time(now));
  room->spend(KernelRoom::When::AtOnce, std::chrono::seconds(1));
  now += std::chrono::milliseconds(1);
  EXPECT_TRUE(room->has_time(now)) << "it makes no debts";
}

TEST_F(KernelRoomTest, AFewEntriesOfEachAreWrittenAtOnceInASecond) {
  EXPECT_TRUE(room->has_time_for(10, 60));
  EXPECT_TRUE(room->ended(10));
  EXPECT_FALSE(room->has_time_for(10, 60)) << "it is the same process, after exec";
  EXPECT_TRUE(room->has_time_for(11, 60));
  now += std::chrono::seconds(1);
  (void)room->has_time(now);
  spend(std::chrono::milliseconds(60));
  EXPECT_TRUE(room->has_time_for(10, 60));
}

TEST_F(KernelRoomTest, WhatIsPutAnewIsRemovedFirst) {
  EXPECT_EQ(put(10, 100), 100U);
  room->put_anew(10);
  EXPECT_FALSE(room->admits(10));
  now += std::chrono::seconds(1);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(held(10), 100U);
  remove_all();
  EXPECT_EQ(held(10), 0U);
  const auto entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->tgid, 10U);
  EXPECT_EQ(entering->from, 0U);
  EXPECT_TRUE(room->admits(10));
  EXPECT_TRUE(room->over_share().empty());
}

TEST_F(KernelRoomTest, WhoEndsWhileWaitingIsForgotten) {
  EXPECT_FALSE(room->began(11, 3000));
  EXPECT_TRUE(room->ended(11));
  now += std::chrono::seconds(1);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_TRUE(room->admits(11));
}

TEST_F(KernelRoomTest, WhoWasTakenOutComesBackWhenHalfIsFree) {
  EXPECT_EQ(put(20, 300), 300U);
  (void)put(10, 1000);  // until there is no room for more
  EXPECT_EQ(held(20), 300U);
  remove_all();
  now += std::chrono::seconds(1);
  EXPECT_FALSE(room->admits(10));
  (void)put(30, 250);
  EXPECT_EQ(next(), std::nullopt);
  ASSERT_TRUE(tables->remove_process(20));
  EXPECT_EQ(next(), 10U);
  EXPECT_TRUE(room->over_share().empty());
}

}  // namespace
}  // namespace offcpud
