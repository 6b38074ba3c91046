// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cpu_history.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kSecond;

class CpuHistoryTest : public ::testing::Test {
 protected:
  // The next step of the fine history; `waited` is of threads that wakeups queued.
  void step(std::chrono::seconds length, const std::string& cgroup, std::uint64_t running_s,
            std::uint64_t waited_s) {
    auto next = std::make_shared<WaitStep>();
    next->begin = MonotonicTime(now_);
    now_ += length;
    next->end = MonotonicTime(now_);
    next->end_wall = WallTime(1'795'176'000s + now_);
    next->subjects.push_back(
        {.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup)),
         .waits = 2,
         .running_ns = running_s * kSecond});
    next->waits.push_back({.kind = OFFCPUD_RUNQ_WAKEUP, .waited_ns = waited_s * kSecond});
    next->waits.push_back({.kind = OFFCPUD_BLOCKED_DISK, .waited_ns = kSecond});
    fine_.push_back(std::move(next));
  }

  std::vector<std::shared_ptr<const WaitStep>> fine_;
  std::chrono::seconds now_{100};
  CpuHistory history_;
};

TEST_F(CpuHistoryTest, SumsStepsToMinutesButForTheLastOneWhichMayGrow) {
  for (int i = 0; i < 7; ++i) step(10s, "/a", 2, 1);
  const auto steps = history_.record(fine_);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0]->length, 60s);
  EXPECT_EQ(steps[0]->end - steps[0]->begin, 60s);
  ASSERT_EQ(steps[0]->subjects.size(), 1U);
  EXPECT_EQ(steps[0]->subjects[0].running_ns, 12 * kSecond);
  EXPECT_EQ(steps[0]->subjects[0].waited_ns[0], 6 * kSecond) << "and nothing of the disk";
}

TEST_F(CpuHistoryTest, NoStepIsAddedTwice) {
  step(10s, "/a", 2, 1);
  step(3s, "/a", 1, 0);
  EXPECT_EQ(history_.record(fine_).back()->length, 10s);
  fine_.pop_back();  // the last one has grown
  now_ -= 3s;
  step(10s, "/a", 3, 2);
  step(10s, "/b", 1, 1);
  const auto steps = history_.record(fine_);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0]->length, 20s);
  EXPECT_EQ(steps[0]->subjects[0].running_ns, 5 * kSecond);
  EXPECT_EQ(history_.record(fine_).back()->length, 20s);
}

TEST_F(CpuHistoryTest, WhatTheFineHistoryForgetsStaysHere) {
  for (int i = 0; i < 7; ++i) step(60s, "/a", 30, 1);
  EXPECT_EQ(history_.record(fine_).size(), 6U);
  fine_.erase(fine_.begin(), fine_.begin() + 5);
  step(60s, "/a", 30, 1);
  EXPECT_EQ(history_.record(fine_).size(), 7U);
}

TEST_F(CpuHistoryTest, ForgetsTheOldestByAgeAndByBytes) {
  CpuHistory by_age({.age = 5min});
  for (int i = 0; i < 12; ++i) step(60s, "/a", 1, 1);
  EXPECT_EQ(by_age.record(fine_).size(), 5U);
  CpuHistory by_bytes({.bytes = 1});
  EXPECT_EQ(by_bytes.record(fine_).size(), 1U) << "the newest stays, whatever its size";
}

TEST_F(CpuHistoryTest, WhoDidNeitherIsLeftOut) {
  step(60s, "/a", 0, 0);
  step(60s, "/a", 0, 0);
  EXPECT_TRUE(history_.record(fine_).front()->subjects.empty());
}

}  // namespace
}  // namespace offcpud
