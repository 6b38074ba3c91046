// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "unit/unwind/fake_unwind_maps.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kPage = 0x1000;

struct KernelRoomTest : testing::Test {
  KernelRoomTest() {
    maps.max_mappings = 1000;  // of which 312 are kept free for one more mapping
    tables.emplace(*TableStore::create(maps));
    room.emplace(
        *tables, [this](std::uint32_t tgid) { return users[tgid]; }, now);
  }
  // Puts in mappings of a page each, as the registry does; how many there were.
  std::size_t put(std::uint32_t tgid, std::size_t count) {
    std::size_t done = 0;
    for (std::uint64_t i = 1; i <= count; ++i) {
      if (!room->admits(tgid) || !room->make_room(tgid)) break;
      EXPECT_TRUE(tables->add_mapping(tgid, 2 * i * kPage, 2 * i * kPage + kPage, 0,
                                      OFFCPUD_UNWIND_NO_OBJECT));
      ++done;
    }
    return done;
  }
  std::optional<KernelRoom::Entering> next_entry() {
    return room->next_waiting(now, [this](const ShareOwner& user) { return user != out_of_time; });
  }
  std::optional<std::uint32_t> next() {
    const auto entering = next_entry();
    return entering ? std::optional(entering->tgid) : std::nullopt;
  }
  // A step of the next one, which has as much left afterwards.
  std::optional<std::uint32_t> step() {
    auto entering = next_entry();
    if (!entering) return std::nullopt;
    entering->from += kPage;
    room->put_rest(*entering);
    return entering->tgid;
  }
  [[nodiscard]] std::size_t held(std::uint32_t tgid) const {
    const auto found = tables->prefixes_by_process().find(tgid);
    return found == tables->prefixes_by_process().end() ? 0 : found->second;
  }

  std::map<std::uint32_t, std::uint32_t> users;
  ShareOwner out_of_time;
  MonotonicTime now{std::chrono::seconds(100)};
  FakeUnwindMaps maps;
  std::optional<TableStore> tables;
  std::optional<KernelRoom> room;
};

TEST_F(KernelRoomTest, ASmallOneGetsItsPlaceFromTheOneWithMost) {
  users = {{10, 65534}};
  EXPECT_EQ(put(20, 100), 100U);
  EXPECT_EQ(put(10, 580), 580U);
  EXPECT_EQ(put(30, 60), 60U);
  EXPECT_EQ(held(10), 0U);
  EXPECT_EQ(held(20), 100U);
  ASSERT_EQ(room->over_share().size(), 1U);
  EXPECT_EQ(room->over_share().front(), (OverShare{10, 65534, 580}));
  EXPECT_FALSE(room->admits(10));
}

TEST_F(KernelRoomTest, TheOneWithMostGoesWithoutAndLeavesNothingBehind) {
  EXPECT_EQ(put(20, 100), 100U);
  EXPECT_LT(put(10, 2000), 700U);
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
  EXPECT_TRUE(room->began(10, 100));
  EXPECT_FALSE(room->began(11, 3000));
  EXPECT_FALSE(room->began(12, 2000));
  EXPECT_FALSE(room->admits(11));
  EXPECT_EQ(next(), std::nullopt);  // no time has passed
  now += std::chrono::milliseconds(200);
  EXPECT_EQ(next(), 12U);
  room->spend(std::chrono::milliseconds(21));
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
  room->spend(std::chrono::milliseconds(30));
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
  EXPECT_FALSE(room->began(12, 600));
  const auto first = step(), second = step();
  EXPECT_TRUE(first == 12U || second == 12U);
}

TEST_F(KernelRoomTest, ALargeOneGetsInHoweverManySmallOnesCome) {
  EXPECT_FALSE(room->began(11, 60'000));
  now += std::chrono::seconds(1);
  int steps = 0;
  for (std::uint32_t tgid = 100; tgid < 140; ++tgid) {
    EXPECT_FALSE(room->began(tgid, 600));
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
    EXPECT_FALSE(room->began(tgid, 600));
  }
  now += std::chrono::seconds(1);
  EXPECT_TRUE(step());
  users[20] = 1000;
  EXPECT_FALSE(room->began(20, 60'000));
  int steps = 0;
  for (int i = 0; i < 40; ++i) steps += step() == 20U ? 1 : 0;
  EXPECT_GE(steps, 10);
}

TEST_F(KernelRoomTest, WhoseUserHasNoTimeLeftWaits) {
  users = {{10, 65534}, {20, 1000}};
  EXPECT_FALSE(room->began(10, 600));
  EXPECT_FALSE(room->began(20, 60'000));
  now += std::chrono::seconds(1);
  out_of_time = 65534;
  EXPECT_EQ(next(), 20U);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_FALSE(room->admits(10));
  out_of_time.reset();
  EXPECT_EQ(next(), 10U);
}

TEST_F(KernelRoomTest, TheRestOfAnAdmittedOneWaitsForItsTurn) {
  EXPECT_TRUE(room->began(10, 100));
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
  EXPECT_LE(most, 64U);
  EXPECT_GT(most, 0U);
}

TEST_F(EndedRoomTest, TheNextOfThatNumberFindsNothing) {
  EXPECT_TRUE(*room->remove_some());
  EXPECT_TRUE(room->began(10, 0));
  EXPECT_TRUE(maps.mappings.empty());
  EXPECT_EQ(put(10, 100), 100U);
  while (*room->remove_some()) continue;
  EXPECT_EQ(held(10), 100U) << "they are not those that ended";
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
  entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->from, 0U);
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
