// SPDX-License-Identifier: Apache-2.0
// What a process with more mappings or events than others does to them, and to itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process_mappings_fixture.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(WhoGivesWay, TheProcessOfTheUserWithMost) {
  const ShareHolder holders[] = {{1, 0, 900}, {2, 7, 1000}, {3, 7, 400}, {4, 7, 400}};
  EXPECT_EQ(who_gives_way(holders, {9, 5, 10}), 2U);  // of the user with 1800
}

// Many small ones do not push out a large one of somebody who has less in all.
TEST(WhoGivesWay, AProcessOfAUserWithManyBeforeALargerOne) {
  const ShareHolder holders[] = {{1, 0, 1000}, {2, 7, 700}, {3, 7, 800}, {4, 7, 700}};
  EXPECT_EQ(who_gives_way(holders, {9, 5, 10}), 3U);
  EXPECT_EQ(who_gives_way(holders, {1, 0, 1001}), 3U);
}

// As where all containers run as root.
TEST(WhoGivesWay, TheLargestOfOneUser) {
  const ShareHolder holders[] = {{1, 0, 100}, {2, 0, 5000}, {3, 0, 30}};
  EXPECT_EQ(who_gives_way(holders, {9, 0, 101}), 2U);
}

TEST(WhoGivesWay, NobodyForTheOneWithMost) {
  const ShareHolder holders[] = {{1, 0, 100}, {2, 7, 200}};
  EXPECT_EQ(who_gives_way(holders, {2, 7, 201}), std::nullopt);
  EXPECT_EQ(who_gives_way(holders, {9, 7, 201}), std::nullopt);
  EXPECT_EQ(who_gives_way({}, {9, 7, 1}), std::nullopt);
}

TEST(WhoGivesWay, UsersThatAreNotKnownAreOne) {
  const ShareHolder holders[] = {{1, std::nullopt, 100}, {2, std::nullopt, 90}, {3, 7, 110}};
  EXPECT_EQ(who_gives_way(holders, {9, 0, 10}), 1U);
}

TEST(RealUid, IsThatOfTheProcess) {
  EXPECT_EQ(real_uid_of(static_cast<std::uint32_t>(::getpid())), ::getuid());
  EXPECT_EQ(real_uid_of(4'194'305), std::nullopt);  // above the largest pid
}

class ProcessSharesTest : public test::ProcessMappingsTest {
 protected:
  // `count` mappings that do not merge, in that second.
  void map_many(std::uint32_t tgid, std::uint64_t count, std::int64_t second = 1) {
    for (std::uint64_t i = 1; i <= count; ++i) {
      map(second * 1'000'000'000, tgid, i * 0x2000, i * 0x2000 + 0x1000, 1);
    }
  }
  // With `count` mappings that do not merge.
  void exists(std::uint32_t tgid, std::uint64_t count) {
    ProcessReader::Process process{{}, {tgid}};
    for (std::uint64_t i = 1; i <= count; ++i) {
      MapsLine line;
      line.begin = i * 0x2000;
      line.end = line.begin + 0x1000;
      line.executable = true;
      line.inode.inode = 5;
      line.path = "/p";
      process.maps.push_back(line);
    }
    reader_.existing[tgid] = std::move(process);
  }
  // Time enough for those whose turn it is.
  void come_back() {
    for (int i = 0; i < 3; ++i) {
      clock_.advance(seconds(2));
      state().catch_up();
    }
  }
  std::vector<std::uint32_t> over_share() {
    std::vector<std::uint32_t> found;
    for (const OverShare& one : state().over_share()) found.push_back(one.tgid);
    return found;
  }
};

TEST_F(ProcessSharesTest, AProcessKeepsWhatItMappedFirst) {
  limits_.of_image = 10;
  reader_.denied = 10;  // what it really has cannot be read
  map_many(10, 12);
  EXPECT_EQ(state().mappings_of(10).size(), 10U);
  EXPECT_EQ(state().mappings_of(10).front().begin, 0x2000U);
  EXPECT_EQ(state().counts().mappings_refused, 2U);
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
}

// As many as the reader is willing to read.
TEST_F(ProcessSharesTest, WhatTheReaderLeavesOutCountsToo) {
  MapsLine line;
  line.begin = 0x1000;
  line.end = 0x2000;
  line.inode.inode = 5;
  line.path = "/a";
  reader_.existing[10] = {{line}, {10}, 7};
  reader_.existing[20] = {{line}, {20}, 0};
  ASSERT_TRUE(state().scan());
  EXPECT_EQ(state().counts().mappings_refused, 7U);
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
}

TEST_F(ProcessSharesTest, AnExecEndsIt) {
  limits_.of_image = 10;
  reader_.denied = 10;
  map_many(10, 12);
  task(MappingEvent::Kind::Executed, 2'000'000'000, 10, 10);
  EXPECT_TRUE(over_share().empty());
  map(3'000'000'000, 10, 0x1000, 0x2000, 1);
  EXPECT_EQ(state().mappings_of(10).size(), 1U);
}

TEST_F(ProcessSharesTest, WhoHasMostGivesWay) {
  limits_.mappings = 20;
  reader_.users = {{10, 7}, {20, 0}, {30, 5}};
  map_many(10, 12);
  map_many(20, 8);
  map_many(30, 3);
  EXPECT_TRUE(state().mappings_of(10).empty());
  EXPECT_EQ(state().mappings_of(20).size(), 8U);
  EXPECT_EQ(state().mappings_of(30).size(), 3U);
  ASSERT_EQ(state().over_share().size(), 1U);
  EXPECT_EQ(state().over_share().front(), (OverShare{10, 7, 0}));
}

TEST_F(ProcessSharesTest, WhoHasMostGoesWithoutHimself) {
  limits_.mappings = 20;
  map_many(20, 8);
  map_many(10, 13);
  EXPECT_EQ(state().mappings_of(20).size(), 8U);
  EXPECT_EQ(state().mappings_of(10).size(), 12U);
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
}

// A family that shares its mappings has them once; one that has changed its own has all of them.
TEST_F(ProcessSharesTest, ChildrenDoNotTakeFromOthersWhatTheyShare) {
  limits_.mappings = 20;
  map_many(10, 12);
  for (std::uint32_t child = 11; child < 19; ++child) {
    task(MappingEvent::Kind::Forked, 1'100'000'000, child, child, 10);
  }
  map_many(30, 8);
  EXPECT_EQ(state().mappings_of(30).size(), 8U);
  EXPECT_EQ(state().mappings_of(18).size(), 12U);
  EXPECT_TRUE(over_share().empty());
}

// As at the start of the daemon, when the hostile ones are read first.
TEST_F(ProcessSharesTest, AScanGoesByTheSameShares) {
  limits_.mappings = 20;
  reader_.users = {{10, 7}, {20, 0}, {30, 7}};
  exists(10, 15);
  exists(20, 8);
  exists(30, 4);
  EXPECT_TRUE(state().scan());
  EXPECT_TRUE(state().mappings_of(10).empty());
  EXPECT_EQ(state().mappings_of(20).size(), 8U);
  EXPECT_EQ(state().mappings_of(30).size(), 4U);
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
}

TEST_F(ProcessSharesTest, OfAScanWhoHasMostGoesWithoutAndIsOverItsShare) {
  limits_.mappings = 20;
  exists(10, 8);
  exists(20, 15);
  EXPECT_TRUE(state().scan());
  EXPECT_EQ(state().mappings_of(10).size(), 8U);
  EXPECT_EQ(state().mappings_of(20).size(), 12U);
  EXPECT_EQ(state().counts().mappings_refused, 3U);
  EXPECT_THAT(over_share(), testing::ElementsAre(20U));
}

TEST_F(ProcessSharesTest, WhatIsReadAgainHasTheRoomThatItHad) {
  limits_.mappings = 20;
  exists(10, 8);
  exists(20, 12);
  EXPECT_TRUE(state().scan());
  clock_.advance(seconds(2));
  EXPECT_TRUE(state().scan());
  EXPECT_EQ(state().mappings_of(10).size(), 8U);
  EXPECT_EQ(state().mappings_of(20).size(), 12U);
  EXPECT_EQ(state().counts().mappings_refused, 0U);
}

TEST_F(ProcessSharesTest, WhoGaveWayComesBackWhenHalfOfTheRoomIsFree) {
  limits_.mappings = 20;
  reader_.users = {{10, 7}, {20, 0}};
  exists(10, 12);
  exists(20, 9);
  EXPECT_TRUE(state().scan());
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
  reader_.asked.clear();
  reader_.existing.erase(20);
  task(MappingEvent::Kind::Exited, clock_.now().time_since_epoch().count(), 20, 20);
  state().forget_ended(state().begin_generation());
  come_back();
  EXPECT_EQ(state().mappings_of(10).size(), 12U);
  EXPECT_TRUE(over_share().empty());
  come_back();
  EXPECT_THAT(reader_.asked, testing::ElementsAre(10U));
}

// Its user had most when it gave way; now another one has.
TEST_F(ProcessSharesTest, WhoGaveWayComesBackWhenItsUserHasLessThanOthers) {
  limits_.mappings = 40;
  reader_.users = {{10, 7}, {11, 7}, {20, 5}, {21, 5}};
  exists(10, 16);
  exists(11, 15);
  exists(20, 12);
  exists(21, 12);
  EXPECT_TRUE(state().scan());
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
  come_back();
  EXPECT_TRUE(state().mappings_of(10).empty());  // it would only take it back
  reader_.existing.erase(11);
  task(MappingEvent::Kind::Exited, clock_.now().time_since_epoch().count(), 11, 11);
  state().forget_ended(state().begin_generation());
  come_back();
  EXPECT_EQ(state().mappings_of(10).size(), 16U);
  EXPECT_EQ(state().mappings_of(20).size(), 12U);
  EXPECT_EQ(state().mappings_of(21).size(), 12U);
}

TEST_F(ProcessSharesTest, EventsOfOneProcessAreLimitedAndItIsReadAgain) {
  for (int i = 0; i < 10'500; ++i) map(1'500'000'000, 10, 0x1000, 0x2000, 1);
  EXPECT_EQ(state().counts().events_left_out, 500U);
  EXPECT_THAT(over_share(), testing::ElementsAre(10U));
  map(1'500'000'000, 20, 0x1000, 0x2000, 1);
  EXPECT_EQ(state().mappings_of(20).size(), 1U);
  reader_.existing[10] = {
      {{.begin = 0x5000, .end = 0x6000, .offset = 0, .executable = true, .inode = {}, .path = ""}},
      {10}};
  clock_.advance(seconds(2));
  state().catch_up();
  EXPECT_EQ(state().mappings_of(10).front().begin, 0x5000U);
  EXPECT_TRUE(over_share().empty());
}

TEST_F(ProcessSharesTest, TheMoreEventsThereAreTheFewerOfOneProcessCount) {
  for (std::uint32_t tgid = 10; tgid < 16; ++tgid) {
    for (int i = 0; i < 10'000; ++i) map(1'500'000'000, tgid, 0x1000, 0x2000, 1);
  }
  map(1'500'000'000, 20, 0x1000, 0x2000, 1);
  EXPECT_EQ(state().mappings_of(20).size(), 1U);
  EXPECT_EQ(state().counts().events_left_out, 1U + 2U * 8000 + 2U * 9600);
}

}  // namespace
}  // namespace offcpud
