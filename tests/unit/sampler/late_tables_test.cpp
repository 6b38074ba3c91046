// SPDX-License-Identifier: Apache-2.0
#include "sampler/late_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/users.h"

namespace offcpud {
namespace {

using test::kAlice;
using test::kBob;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

bool anybody(const ShareOwner& /*user*/) {
  return true;
}

std::vector<std::uint32_t> told_by(LateTables& late, const ObjectTurns::May& may = anybody) {
  std::vector<std::uint32_t> all;
  while (const auto one = late.next_to_tell(may)) all.push_back(one->tgid);
  return all;
}

TEST(LateTables, TellsWhoMappedTheObjectOnce) {
  LateTables late;
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.mapped_without(2, 7, 0x1000, kAlice);
  late.mapped_without(2, 8, 0x1000, kAlice);
  EXPECT_THAT(told_by(late), IsEmpty());
  late.made(7);
  EXPECT_THAT(told_by(late), UnorderedElementsAre(1U, 2U));
  late.made(7);
  EXPECT_THAT(told_by(late), IsEmpty());
  late.made(8);
  EXPECT_THAT(told_by(late), ElementsAre(2U));
}

// All mappings of a process are looked at to tell it of one.
TEST(LateTables, TellsAProcessOfAllTablesAtOnce) {
  LateTables late;
  for (std::uint64_t object = 7; object < 500; ++object)
    late.mapped_without(1, object, 0x1000, kAlice);
  for (std::uint64_t object = 7; object < 500; ++object) late.made(object);
  EXPECT_THAT(told_by(late), ElementsAre(1U));
}

TEST(LateTables, UsersTakeTurnsInBeingTold) {
  LateTables late;
  for (std::uint32_t tgid = 1; tgid <= 100; ++tgid) late.mapped_without(tgid, 7, 0x1000, kAlice);
  late.made(7);
  late.mapped_without(200, 8, 0x1000, kBob);
  late.made(8);
  (void)late.next_to_tell(anybody);
  const auto second = late.next_to_tell(anybody);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tgid, 200U);
  EXPECT_EQ(second->user, kBob);
  EXPECT_THAT(told_by(late, [](const ShareOwner& user) { return user == kBob; }), IsEmpty());
  late.ended(50);
  EXPECT_THAT(told_by(late), testing::AllOf(testing::SizeIs(testing::Ge(98U)),
                                            testing::Not(testing::Contains(50U))));
}

TEST(LateTables, TellsTheRestOfAProcessAtItsNextTurn) {
  LateTables late;
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.mapped_without(2, 7, 0x1000, kBob);
  late.mapped_without(1, 8, 0x1000, kAlice);
  late.made(7);
  const auto next_of = [&](std::uint32_t tgid) {
    auto telling = late.next_to_tell(anybody);
    if (telling && telling->tgid != tgid) telling = late.next_to_tell(anybody);
    return telling.value_or(LateTables::Telling());
  };
  auto telling = next_of(1);
  EXPECT_EQ(telling.from, 0U);
  telling.from = 4096;
  late.tell_rest(telling);
  telling = next_of(1);
  EXPECT_EQ(telling.tgid, 1U);
  EXPECT_EQ(telling.user, kAlice);
  EXPECT_EQ(telling.from, 4096U);

  late.made(8);  // in the middle of it
  late.tell_rest(telling);
  telling = next_of(1);
  EXPECT_EQ(telling.from, 0U) << "mappings below may lack the new one";
  EXPECT_THAT(told_by(late), IsEmpty());
  late.tell_rest(telling);
  late.ended(1);
  EXPECT_THAT(told_by(late), IsEmpty());
}

TEST(LateTables, ForgetsProcessesAndObjects) {
  LateTables late;
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.mapped_without(1, 8, 0x1000, kAlice);
  late.mapped_without(2, 8, 0x1000, kAlice);
  late.ended(1);
  late.ended(1);
  EXPECT_THAT(late.processes_of(7), IsEmpty());
  EXPECT_THAT(late.processes_of(8), ElementsAre(2U));
  late.forget(8);
  late.ended(2);
  late.made(8);
  EXPECT_THAT(told_by(late), IsEmpty());
}

// A process that maps one object after the other has as many as it maps now.
TEST(LateTables, RemembersAnObjectWhileOneOfItsMappingsIsThere) {
  LateTables late;
  late.mapped_without(1, 7, 0x2000, kAlice);
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.mapped_without(2, 7, 0x1000, kAlice);
  late.unmapped(1, 8, 0x1000);
  late.unmapped(3, 7, 0x1000);
  late.unmapped(1, 7, 0x1000);
  EXPECT_EQ(late.pairs(), 2U);
  late.unmapped(1, 7, 0x2000);
  EXPECT_EQ(late.pairs(), 1U);
  EXPECT_THAT(late.processes_of(7), ElementsAre(2U));
  late.unmapped(2, 7, 0x1000);
  EXPECT_EQ(late.pairs(), 0U);
}

// A process that is put in by and by is told of a new mapping, and comes to it once more.
TEST(LateTables, KnowsAMappingOnceThatIsToldTwice) {
  LateTables late;
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.unmapped(1, 7, 0x1000);
  EXPECT_EQ(late.pairs(), 0U);
}

// It may also lose a mapping that was not in yet.
TEST(LateTables, RemembersTheOthersWhenAMappingGoesThatWasNotIn) {
  LateTables late;
  late.mapped_without(1, 7, 0x1000, kAlice);
  late.unmapped(1, 7, 0x9000);
  late.made(7);
  EXPECT_THAT(told_by(late), ElementsAre(1U));
}

TEST(LateTables, AnObjectWaitsUntilItIsMadeOrForgotten) {
  LateTables late;
  for (std::uint64_t object = 7; object <= 9; ++object) late.wait(object, 1000);
  late.made(7);
  late.forget(8);
  const auto turn = late.next(anybody);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->object, 9U);
  EXPECT_FALSE(late.next(anybody));
}

}  // namespace
}  // namespace offcpud
