// SPDX-License-Identifier: Apache-2.0
#include "mappings/process_mappings.h"

#include <gmock/gmock.h>

#include "process_mappings_fixture.h"

namespace offcpud {
namespace {

using test::ProcessMappingsTest;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ProcessMappingsTest, LooksUpTheOffsetInTheFile) {
  map(1, 10, 0x1000, 0x3000, 1, "/lib");
  const auto location = state().find(10, at(5), 0x2345);
  ASSERT_TRUE(location);
  EXPECT_EQ(location->mapping->file->object->build_id, test::build_id(1));
  EXPECT_EQ(location->file_offset, 0x1345U);
  EXPECT_FALSE(state().find(10, at(5), 0x3000));
  EXPECT_FALSE(state().find(11, at(5), 0x2345));
}

TEST_F(ProcessMappingsTest, AForkSharesUntilOneOfBothChanges) {
  map(1, 10, 0x1000, 0x2000, 1, "/a");
  task(Kind::Forked, 2, 20, 20, 10);
  EXPECT_EQ(state().mappings_of(10).data(), state().mappings_of(20).data());
  EXPECT_EQ(state().counts().mappings, 1U);
  map(3, 20, 0x5000, 0x6000, 2, "/b");
  EXPECT_EQ(path_at(20, 4, 0x1000), "/a");
  EXPECT_EQ(path_at(20, 4, 0x5000), "/b");
  EXPECT_EQ(path_at(10, 4, 0x5000), "");
  EXPECT_EQ(state().counts().mappings, 3U);
}

TEST_F(ProcessMappingsTest, TheObserverIsToldInOrder) {
  map(1, 10, 0x1000, 0x3000, 1, "/a");
  EXPECT_THAT(log_.take(), ElementsAre("began 10#1 with 0", "object 1 /a closed", "added 10#1 /a"));
  map(2, 10, 0x1000, 0x3000, 1, "/a");  // the same again
  EXPECT_THAT(log_.take(), IsEmpty());
  map(3, 10, 0x2000, 0x3000, 2, "/b");
  EXPECT_THAT(log_.take(), ElementsAre("object 2 /b closed", "removed 10#1 /a", "added 10#1 /a",
                                       "added 10#1 /b"));
  task(Kind::Forked, 4, 20, 20, 10);
  task(Kind::Executed, 5, 20, 20);
  task(Kind::Exited, 6, 20, 20);
  EXPECT_THAT(log_.take(), ElementsAre("began 20#2 with 2", "ended 20#2 with 2",
                                       "began 20#3 with 0", "ended 20#3 with 0"));
}

TEST_F(ProcessMappingsTest, AnExecLeavesTheOldImageToOldAddresses) {
  map(1, 10, 0x1000, 0x2000, 1, "/before");
  task(Kind::Executed, 100, 10, 10);
  map(101, 10, 0x1000, 0x2000, 2, "/after");
  EXPECT_EQ(path_at(10, 99, 0x1000), "/before");
  EXPECT_EQ(path_at(10, 102, 0x1000), "/after");
  state().forget_ended(state().begin_generation());
  EXPECT_EQ(path_at(10, 102, 0x1000), "/after");
  EXPECT_EQ(path_at(10, 99, 0x1000), "/after");  // nothing better is known
}

TEST_F(ProcessMappingsTest, ANumberThatIsUsedAgainIsAnotherProcess) {
  map(1, 10, 0x1000, 0x2000, 1, "/first");
  task(Kind::Exited, 50, 10, 10);
  EXPECT_TRUE(state().mappings_of(10).empty());
  map(60, 30, 0x1000, 0x2000, 3, "/parent");
  task(Kind::Forked, 100, 10, 10, 30);
  EXPECT_EQ(path_at(10, 49, 0x1000), "/first");
  EXPECT_EQ(path_at(10, 80, 0x1000), "/first");  // its last wait, after the event of its end
  EXPECT_EQ(path_at(10, 100, 0x1000), "/parent");
}

TEST_F(ProcessMappingsTest, ForgettingFollowsGenerations) {
  map(1, 10, 0x1000, 0x2000, 1);
  map(1, 20, 0x1000, 0x2000, 1);
  const auto first = state().begin_generation();
  task(Kind::Exited, 2, 10, 10);
  const auto second = state().begin_generation();
  task(Kind::Exited, 3, 20, 20);
  EXPECT_EQ(state().counts().ended, 2U);
  state().forget_ended(first);
  EXPECT_FALSE(state().find(10, at(1), 0x1000));
  EXPECT_TRUE(state().find(20, at(1), 0x1000));
  state().forget_ended(second);
  EXPECT_EQ(state().counts().ended, 0U);
  EXPECT_EQ(state().counts().mappings, 0U);
}

// A container's first process changes its root and executes a program; what that starts and
// what has ended before anybody could ask for its root have the same one.
TEST_F(ProcessMappingsTest, ARootIsThatOfTheExecOrOfTheParent) {
  opener_.files["/lib"] = {OpenedFile::Outcome::Opened, test::build_id(1)};
  const auto maps_copy = [this](int when, std::uint32_t tgid) {
    const std::size_t before = opener_.requests.size();
    map(when, tgid, 0x1000, 0x2000, 1, "/lib");
    return opener_.requests.size() > before;
  };
  opener_.roots[10] = {1, 2};
  map(1, 10, 0x1000, 0x2000, 1, "/lib");
  EXPECT_TRUE(maps_copy(2, 10));  // the first one may have been another's
  EXPECT_FALSE(maps_copy(3, 10));
  task(Kind::Forked, 4, 20, 20, 10);
  opener_.roots[20] = {3, 2};
  task(Kind::Executed, 5, 20, 20);
  EXPECT_TRUE(maps_copy(6, 20));
  task(Kind::Forked, 7, 30, 30, 20);
  task(Kind::Executed, 8, 30, 30);  // it is gone already
  EXPECT_FALSE(maps_copy(9, 30));
}

TEST_F(ProcessMappingsTest, AProcessEndsWithItsLastThread) {
  map(1, 10, 0x1000, 0x2000, 1);
  task(Kind::Forked, 2, 10, 11, 10);
  task(Kind::Forked, 3, 10, 12, 10);
  task(Kind::Exited, 4, 10, 10);
  task(Kind::Exited, 5, 10, 11);
  EXPECT_FALSE(state().mappings_of(10).empty());
  task(Kind::Exited, 6, 10, 12);
  EXPECT_TRUE(state().mappings_of(10).empty());
}

TEST_F(ProcessMappingsTest, AnExecOfAnotherThreadTakesThePlaceOfTheFirst) {
  map(1, 10, 0x1000, 0x2000, 1);
  task(Kind::Forked, 2, 10, 11, 10);
  task(Kind::Exited, 3, 10, 10);    // the kernel ends all others, then
  task(Kind::Executed, 4, 10, 10);  // 11 has the number of the first one; 11 itself never ends
  map(5, 10, 0x1000, 0x2000, 2);
  EXPECT_FALSE(state().mappings_of(10).empty());
  task(Kind::Exited, 6, 10, 10);
  EXPECT_TRUE(state().mappings_of(10).empty());
}

TEST_F(ProcessMappingsTest, ChildrenOfWhatHasNoMappingsAreNotKept) {
  task(Kind::Forked, 1, 20, 20, 2);  // a kernel thread
  EXPECT_EQ(state().counts().live, 0U);
  task(Kind::Executed, 2, 20, 20);  // it starts a program
  EXPECT_EQ(state().counts().live, 1U);
}

TEST_F(ProcessMappingsTest, ProcessesAreLimitedAndEndedOnesMakeRoom) {
  limits_.images = 2;
  map(1, 10, 0x1000, 0x2000, 1);
  map(1, 20, 0x1000, 0x2000, 1);
  map(1, 30, 0x1000, 0x2000, 1);
  EXPECT_EQ(state().counts().images_refused, 1U);
  EXPECT_TRUE(state().mappings_of(30).empty());
  task(Kind::Exited, 2, 10, 10);
  map(3, 30, 0x1000, 0x2000, 1);
  EXPECT_FALSE(state().mappings_of(30).empty());
  EXPECT_EQ(state().counts().ended_too_early, 1U);
  EXPECT_EQ(state().counts().live, 2U);
  EXPECT_EQ(state().counts().ended, 0U);
}

TEST_F(ProcessMappingsTest, MappingsAreLimitedSharedOnesCountOnce) {
  limits_.mappings = 3;
  map(1, 10, 0x1000, 0x2000, 1);
  map(1, 10, 0x3000, 0x4000, 1);
  task(Kind::Forked, 2, 20, 20, 10);
  EXPECT_EQ(state().counts().mappings_refused, 0U);
  map(3, 20, 0x5000, 0x6000, 1);  // would need a copy of both
  EXPECT_EQ(state().counts().mappings_refused, 1U);
  map(4, 10, 0x5000, 0x6000, 1);
  EXPECT_EQ(state().counts().mappings_refused, 2U);
  task(Kind::Exited, 5, 20, 20);
  state().forget_ended(state().begin_generation());
  map(6, 10, 0x5000, 0x6000, 1);
  EXPECT_EQ(state().mappings_of(10).size(), 3U);
}

TEST_F(ProcessMappingsTest, TheParentIsToldToTheOpener) {
  map(1, 10, 0x1000, 0x2000, 1);
  task(Kind::Forked, 2, 20, 20, 10);
  task(Kind::Executed, 3, 20, 20);
  map(4, 20, 0x1000, 0x2000, 2, "/b");
  EXPECT_EQ(opener_.requests.back().tgid, 20U);
  EXPECT_EQ(opener_.requests.back().parent_tgid, 10U);
}

}  // namespace
}  // namespace offcpud
