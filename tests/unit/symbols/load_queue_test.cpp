// SPDX-License-Identifier: Apache-2.0
#include "symbols/load_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "support/users.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kHog;
using test::kOther;
using testing::ElementsAre;

struct LoadQueueTest : testing::Test {
  // Puts a load in; the number of the one that has to go, 0: none.
  ObjectId push(ObjectId id, const ShareOwner& owner) {
    const auto given =
        queue.push({.id = id, .owner = owner, .file = {}, .job = {}, .what = nullptr});
    return given ? given->id : 0;
  }
  ObjectId take(const LoadQueue::Wanted& wanted = {}) {
    const auto load = queue.take(wanted, now);
    return load ? load->id : 0;
  }
  // Does loads for so much CPU time, of which each of a user costs the same.
  std::map<ShareOwner, int> work(std::chrono::nanoseconds cpu,
                                 const std::map<ShareOwner, milliseconds>& costs) {
    std::map<ShareOwner, int> done;
    while (cpu.count() > 0) {
      const auto load = queue.take({}, now);
      if (!load) break;
      const auto cost = costs.at(load->owner);
      now += cost;
      cpu -= cost;
      queue.spend(load->owner, cost, now);
      done[load->owner]++;
      (void)push(load->id, load->owner);
    }
    return done;
  }
  LoadQueue queue{{.waiting = 8}};
  MonotonicTime now{seconds(1000)};
};

TEST_F(LoadQueueTest, IsInOrderForOneUser) {
  for (ObjectId id = 1; id <= 3; ++id) EXPECT_EQ(push(id, kHog), 0U);
  EXPECT_EQ(take(), 1U);
  EXPECT_EQ(take(), 2U);
  EXPECT_EQ(push(4, kHog), 0U);
  EXPECT_EQ(take(), 3U);
  EXPECT_EQ(take(), 4U);
  EXPECT_EQ(take(), 0U);
  EXPECT_EQ(queue.next_time(now), MonotonicTime::max());
}

TEST_F(LoadQueueTest, UsersTakeTurns) {
  for (ObjectId id = 1; id <= 4; ++id) (void)push(id, kHog);
  (void)push(11, kOther);
  (void)push(12, kOther);
  (void)push(21, std::nullopt);
  std::vector<ObjectId> order;
  while (const ObjectId id = take()) order.push_back(id);
  // Whoever was not served yet is next; of those it does not matter who.
  std::ranges::sort(order.begin(), order.begin() + 3);
  std::ranges::sort(order.begin() + 3, order.begin() + 5);
  EXPECT_THAT(order, ElementsAre(1, 11, 21, 2, 12, 3, 4));
}

TEST_F(LoadQueueTest, WhoHasSpentLessGoesFirst) {
  for (ObjectId id = 1; id <= 4; ++id) (void)push(id, kHog);
  EXPECT_EQ(take(), 1U);
  queue.spend(kHog, seconds(2), now);
  (void)push(11, kOther);
  (void)push(12, kOther);
  EXPECT_EQ(take(), 11U);
  queue.spend(kOther, seconds(1), now);
  EXPECT_EQ(take(), 12U);
  EXPECT_EQ(take(), 2U);
}

TEST_F(LoadQueueTest, UsersHaveTheSameTimeWhateverTheirLoadsCost) {
  for (ObjectId id = 1; id <= 4; ++id) {
    (void)push(id, kHog);
    (void)push(10 + id, kOther);
  }
  auto done = work(seconds(8), {{kHog, milliseconds(500)}, {kOther, milliseconds(10)}});
  EXPECT_NEAR(done[kHog], 8, 1);
  EXPECT_NEAR(done[kOther], 400, 50);
}

TEST_F(LoadQueueTest, AUserHasTenSecondsAndATenthOfACpu) {
  (void)push(1, kHog);
  const int at_once = work(seconds(100), {{kHog, milliseconds(100)}})[kHog];
  EXPECT_NEAR(at_once, 111, 1);  // some came back meanwhile
  EXPECT_EQ(take(), 0U);
  const MonotonicTime next = queue.next_time(now);
  EXPECT_GT(next, now);
  EXPECT_LT(next, now + seconds(2));
  // Others do not wait for that.
  (void)push(11, kOther);
  EXPECT_EQ(take(), 11U);
  now = next;
  EXPECT_EQ(take(), 1U);
  queue.spend(kHog, milliseconds(0), now);
  (void)push(1, kHog);
  const MonotonicTime end = now + seconds(600);
  int loads = 0;
  while (now < end) {
    loads += work(seconds(1), {{kHog, milliseconds(100)}})[kHog];
    now = std::max(now, queue.next_time(now));
  }
  EXPECT_NEAR(loads, 600, 6);
}

TEST_F(LoadQueueTest, WhatIsWantedGoesFirst) {
  for (ObjectId id = 1; id <= 3; ++id) (void)push(id, kHog);
  (void)push(11, kOther);
  queue.spend(kOther, seconds(1), now);
  EXPECT_EQ(take([](ObjectId id) { return id == 11 || id == 3; }), 3U);
  EXPECT_EQ(take([](ObjectId id) { return id == 11; }), 11U);
  EXPECT_EQ(take([](ObjectId id) { return id == 99; }), 1U);
}

TEST_F(LoadQueueTest, WhoHasMostGivesBackWhenItIsFull) {
  for (ObjectId id = 1; id <= 8; ++id) EXPECT_EQ(push(id, kHog), 0U);
  EXPECT_EQ(push(9, kHog), 9U);  // his own
  for (ObjectId id = 11; id <= 14; ++id) EXPECT_EQ(push(id, kOther), 19 - id) << id;
  EXPECT_EQ(push(15, kOther), 15U);  // as many as the other one
  EXPECT_THAT(push(21, std::nullopt), testing::AnyOf(4, 14));
  EXPECT_EQ(queue.size(), 8U);
}

}  // namespace
}  // namespace offcpud
