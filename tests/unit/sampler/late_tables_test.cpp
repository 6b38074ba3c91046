// SPDX-License-Identifier: Apache-2.0
#include "sampler/late_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<std::pair<std::uint32_t, std::uint64_t>> told_by(LateTables& late) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> all;
  while (const auto one = late.next_to_tell()) all.emplace_back(one->tgid, one->object);
  return all;
}

TEST(LateTables, TellsWhoMappedTheObjectOnce) {
  LateTables late;
  late.mapped_without(1, 7);
  late.mapped_without(1, 7);
  late.mapped_without(2, 7);
  late.mapped_without(2, 8);
  EXPECT_THAT(told_by(late), IsEmpty());
  late.made(7);
  EXPECT_THAT(told_by(late), UnorderedElementsAre(Pair(1, 7), Pair(2, 7)));
  late.made(7);
  EXPECT_THAT(told_by(late), IsEmpty());
  late.made(8);
  EXPECT_THAT(told_by(late), ElementsAre(Pair(2, 8)));
}

TEST(LateTables, ForgetsProcessesAndObjects) {
  LateTables late;
  late.mapped_without(1, 7);
  late.mapped_without(1, 8);
  late.mapped_without(2, 8);
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
  late.mapped_without(1, 7);
  late.mapped_without(1, 7);
  late.mapped_without(2, 7);
  late.unmapped(1, 8);
  late.unmapped(3, 7);
  late.unmapped(1, 7);
  EXPECT_EQ(late.pairs(), 2U);
  late.unmapped(1, 7);
  late.unmapped(1, 7);
  EXPECT_EQ(late.pairs(), 1U);
  EXPECT_THAT(late.processes_of(7), ElementsAre(2U));
  late.unmapped(2, 7);
  EXPECT_EQ(late.pairs(), 0U);
}

TEST(LateTables, AnObjectWaitsUntilItIsMadeOrForgotten) {
  LateTables late;
  const auto any = [](const ShareOwner& /*user*/) { return true; };
  for (std::uint64_t object = 7; object <= 9; ++object) late.wait(object, 1000);
  late.made(7);
  late.forget(8);
  const auto turn = late.next(any);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->object, 9U);
  EXPECT_FALSE(late.next(any));
}

}  // namespace
}  // namespace offcpud
