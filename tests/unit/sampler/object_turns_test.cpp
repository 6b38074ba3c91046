// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/users.h"

namespace offcpud {
namespace {

using test::kAlice;
using test::kBob;

std::vector<std::uint64_t> all_of(ObjectTurns& turns) {
  std::vector<std::uint64_t> order;
  while (const auto turn = turns.pop([](const ShareOwner& /*user*/) { return true; })) {
    order.push_back(turn->object);
  }
  return order;
}

TEST(ObjectTurns, UsersTakeTurns) {
  ObjectTurns turns;
  for (std::uint64_t object = 1; object <= 4; ++object) turns.push(object, kAlice);
  turns.push(5, kBob);
  turns.push(6, kBob);
  EXPECT_THAT(all_of(turns), testing::ElementsAre(1, 5, 2, 6, 3, 4));
  EXPECT_EQ(turns.size(), 0U);
}

TEST(ObjectTurns, EachWaitsOnceAndKeepsItsPlace) {
  ObjectTurns turns;
  turns.push(1, kAlice);
  turns.push(2, kAlice);
  turns.push(1, kAlice);
  turns.push(1, kBob);
  EXPECT_EQ(turns.size(), 2U);
  EXPECT_THAT(all_of(turns), testing::ElementsAre(1, 2));
}

// Whoever is put back each time is behind those who waited meanwhile.
TEST(ObjectTurns, WhoComesAgainIsLast) {
  ObjectTurns turns;
  const auto any = [](const ShareOwner& /*user*/) { return true; };
  turns.push(1, kAlice);
  turns.push(2, kBob);
  turns.push(3, kBob);
  EXPECT_EQ(turns.pop(any)->object, 1U);
  turns.push(1, kAlice);
  EXPECT_EQ(turns.pop(any)->object, 2U);
  EXPECT_THAT(all_of(turns), testing::ElementsAre(1, 3));
}

TEST(ObjectTurns, SkipsWhoMayNotAndForgets) {
  ObjectTurns turns;
  turns.push(1, kAlice);
  turns.push(2, kBob);
  turns.push(3, std::nullopt);
  const auto not_alice = [](const ShareOwner& user) { return user != kAlice; };
  const auto turn = turns.pop(not_alice);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->object, 2U);
  EXPECT_EQ(turn->user, kBob);
  turns.erase(3);
  turns.erase(99);
  EXPECT_FALSE(turns.pop(not_alice));
  EXPECT_THAT(all_of(turns), testing::ElementsAre(1));
}

}  // namespace
}  // namespace offcpud
