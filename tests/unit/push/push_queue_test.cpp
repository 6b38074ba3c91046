// SPDX-License-Identifier: Apache-2.0
#include "push/push_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

PushItem item(char name, std::size_t bytes) {
  return {.begin = {}, .end = {}, .pprof = std::string(bytes, name)};
}

// The names of what is sent, if all of it is.
std::string sent(PushQueue& queue) {
  std::string names;
  while (!queue.empty()) {
    names += queue.begin_sending()->pprof.front();
    queue.remove_sent();
  }
  return names;
}

TEST(PushQueue, SendsInTheOrderInWhichTheyCame) {
  PushQueue queue(100);
  for (const char name : {'a', 'b', 'c'}) EXPECT_EQ(queue.push(item(name, 10)), 0U);
  EXPECT_EQ(queue.bytes(), 30U);
  EXPECT_EQ(sent(queue), "abc");
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(PushQueue, DropsTheOldestWhenItIsFull) {
  PushQueue queue(30);
  for (const char name : {'a', 'b', 'c'}) EXPECT_EQ(queue.push(item(name, 10)), 0U);
  EXPECT_EQ(queue.push(item('d', 1)), 1U);
  EXPECT_EQ(queue.push(item('e', 25)), 2U);
  EXPECT_EQ(queue.bytes(), 26U);
  EXPECT_EQ(sent(queue), "de");
}

TEST(PushQueue, OneThatIsLargerThanAllOfItIsDropped) {
  PushQueue queue(30);
  EXPECT_EQ(queue.push(item('a', 31)), 1U);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(PushQueue, KeepsTheOneThatIsOnItsWay) {
  PushQueue queue(30);
  for (const char name : {'a', 'b', 'c'}) (void)queue.push(item(name, 10));
  EXPECT_EQ(queue.begin_sending()->pprof.front(), 'a');
  EXPECT_EQ(queue.push(item('d', 10)), 1U) << "b";
  EXPECT_EQ(queue.clear(), 2U) << "c and d";
  queue.remove_sent();
  EXPECT_TRUE(queue.empty());
}

TEST(PushQueue, OneThatFailsIsTheOldestAgain) {
  PushQueue queue(30);
  for (const char name : {'a', 'b', 'c'}) (void)queue.push(item(name, 10));
  (void)queue.begin_sending();
  EXPECT_EQ(queue.keep_unsent(), 0U);
  EXPECT_EQ(queue.push(item('d', 10)), 1U);
  EXPECT_EQ(sent(queue), "bcd");
}

TEST(PushQueue, OneThatFailsMayBeTooMuch) {
  PushQueue queue(30);
  (void)queue.push(item('a', 10));
  (void)queue.begin_sending();
  EXPECT_EQ(queue.push(item('b', 30)), 1U) << "b, as a is on its way";
  EXPECT_EQ(queue.push(item('c', 20)), 0U);
  EXPECT_EQ(queue.set_most_bytes(25), 1U) << "c";
  EXPECT_EQ(queue.set_most_bytes(5), 0U);
  EXPECT_EQ(queue.keep_unsent(), 1U) << "a";
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(PushQueue, CountsAttemptsAtTheOldestAnew) {
  PushQueue queue(20);
  for (const char name : {'a', 'b'}) (void)queue.push(item(name, 10));
  (void)queue.begin_sending();
  EXPECT_EQ(queue.count_attempt(), 1U);
  (void)queue.keep_unsent();
  EXPECT_EQ(queue.count_attempt(), 2U);
  EXPECT_EQ(queue.push(item('c', 10)), 1U) << "a";
  EXPECT_EQ(queue.count_attempt(), 1U) << "at b";
  (void)queue.begin_sending();
  queue.remove_sent();
  EXPECT_EQ(queue.count_attempt(), 1U) << "at c";
  (void)queue.begin_sending();
  EXPECT_EQ(queue.push(item('d', 15)), 1U) << "d itself, as c is on its way";
  EXPECT_EQ(queue.count_attempt(), 2U);
}

TEST(PushQueue, BoundsTheirNumber) {
  PushQueue queue(1U << 20U);
  for (std::size_t i = 0; i < PushQueue::kMostItems; ++i) EXPECT_EQ(queue.push(item('a', 1)), 0U);
  EXPECT_EQ(queue.push(item('b', 1)), 1U);
  EXPECT_EQ(queue.size(), PushQueue::kMostItems);
}

}  // namespace
}  // namespace offcpud
