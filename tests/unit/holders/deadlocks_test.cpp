// SPDX-License-Identifier: Apache-2.0
#include "holders/deadlocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace offcpud {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

HeldWait waits(std::uint32_t tid, std::uint32_t holder, LockKind kind = LockKind::Mutex,
               std::uint64_t since_ns = 5) {
  LockHolder of{.kind = kind, .tid = holder};
  return {.tid = tid, .since_ns = since_ns, .holder = std::make_shared<const LockHolder>(of)};
}

std::vector<std::vector<std::uint32_t>> tids(const std::vector<Deadlock>& deadlocks) {
  std::vector<std::vector<std::uint32_t>> all;
  for (const Deadlock& deadlock : deadlocks) {
    auto& one = all.emplace_back();
    for (const HeldWait& wait : deadlock) one.push_back(wait.tid);
  }
  return all;
}

// What is told after two looks that see the same.
std::vector<std::vector<std::uint32_t>> told(const std::vector<HeldWait>& look) {
  Deadlocks deadlocks;
  EXPECT_THAT(deadlocks.update(look), IsEmpty()) << "one look is not enough";
  return tids(deadlocks.update(look));
}

TEST(Deadlocks, AreCirclesThatTwoLooksSee) {
  EXPECT_THAT(told({waits(1, 2), waits(2, 1)}), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(told({waits(7, 3), waits(3, 9), waits(9, 7)}), ElementsAre(ElementsAre(3, 9, 7)));
  EXPECT_THAT(told({waits(1, 2), waits(2, 1), waits(5, 6), waits(6, 5)}),
              ElementsAre(ElementsAre(1, 2), ElementsAre(5, 6)));
}

TEST(Deadlocks, AThreadMayWaitForItself) {
  EXPECT_THAT(told({waits(4, 4), waits(5, 4)}), ElementsAre(ElementsAre(4)));
}

TEST(Deadlocks, WhoWaitsForACircleIsNotInIt) {
  EXPECT_THAT(told({waits(1, 2), waits(2, 3), waits(3, 2), waits(4, 1)}),
              ElementsAre(ElementsAre(2, 3)));
}

TEST(Deadlocks, AChainIsNone) {
  EXPECT_THAT(told({waits(1, 2), waits(2, 3), waits(4, 3)}), IsEmpty());
  EXPECT_THAT(told({}), IsEmpty());
}

// Two waits that never were at the same time.
TEST(Deadlocks, AWaitThatBeganAnewIsNone) {
  Deadlocks deadlocks;
  (void)deadlocks.update(std::vector{waits(1, 2), waits(2, 1)});
  EXPECT_THAT(deadlocks.update(std::vector{waits(1, 2), waits(2, 1, LockKind::Mutex, 6)}),
              IsEmpty());
  EXPECT_THAT(tids(deadlocks.update(std::vector{waits(1, 2), waits(2, 1, LockKind::Mutex, 6)})),
              ElementsAre(ElementsAre(1, 2)));
}

// Any thread of the process may free it.
TEST(Deadlocks, ALockOnAFileIsInNone) {
  EXPECT_THAT(told({waits(1, 2, LockKind::File), waits(2, 1)}), IsEmpty());
}

TEST(Deadlocks, EndWhenAWaitEnds) {
  Deadlocks deadlocks;
  const std::vector both = {waits(1, 2), waits(2, 1)};
  (void)deadlocks.update(both);
  EXPECT_EQ(deadlocks.update(both).size(), 1U);
  EXPECT_THAT(deadlocks.update(std::vector{waits(1, 2)}), IsEmpty());
}

// Each thread is passed once, however long the chains.
TEST(Deadlocks, ManyWaitersTakeOnePass) {
  std::vector<HeldWait> chain;
  for (std::uint32_t i = 1; i < 20'000; ++i) chain.push_back(waits(i, i + 1));
  chain.push_back(waits(20'000, 19'999));
  EXPECT_THAT(told(chain), ElementsAre(ElementsAre(19'999, 20'000)));
}

}  // namespace
}  // namespace offcpud
