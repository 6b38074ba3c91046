// SPDX-License-Identifier: Apache-2.0
#include "sites/evidence_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <random>

namespace offcpud {
namespace {

constexpr MonotonicTime kNow{};

EvidenceKey thread(std::uint32_t tid, std::uint32_t tgid = 1) {
  return {.tgid = tgid, .tid = tid, .what = 7};
}

TEST(EvidenceTable, FindsWhatWasTouchedAndNothingElse) {
  EvidenceTable table(10);
  table.touch(thread(1), {5}, kNow)->wakeups = 3;
  ASSERT_NE(table.find(thread(1)), nullptr);
  EXPECT_EQ(table.find(thread(1))->wakeups, 3);
  EXPECT_EQ(table.find(thread(2)), nullptr);
  EXPECT_EQ(table.find({.tgid = 2, .tid = 1, .what = 7}), nullptr);
  EXPECT_EQ(table.find({.tgid = 1, .tid = 1, .what = 8}), nullptr);
}

TEST(EvidenceTable, AnotherProcessOfTheSameNumberBeginsAnew) {
  EvidenceTable table(10);
  table.touch(thread(1), {5}, kNow)->wakeups = 3;
  const Evidence* const fresh = table.touch(thread(1), {6}, kNow + std::chrono::seconds(9));
  ASSERT_NE(fresh, nullptr);
  EXPECT_EQ(fresh->wakeups, 0);
  EXPECT_EQ(fresh->began, kNow + std::chrono::seconds(9));
  EXPECT_EQ(table.size(), 1U);
}

// Of one process, against a list that does the same slowly.
TEST(EvidenceTable, DropsTheOneThatWasNotTouchedForLongest) {
  constexpr std::size_t kMost = 50;
  EvidenceTable table(kMost);
  std::list<std::uint32_t> newest_first;
  std::uint64_t dropped = 0;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t tid = random() % 64;
    const auto known = std::find(newest_first.begin(), newest_first.end(), tid);
    if (known != newest_first.end()) newest_first.erase(known);
    newest_first.push_front(tid);
    if (newest_first.size() > kMost) {
      newest_first.pop_back();
      ++dropped;
    }
    table.touch(thread(tid), {5}, kNow + std::chrono::seconds(i))->wakeups =
        static_cast<float>(tid);
  }
  EXPECT_EQ(table.dropped(), dropped);
  EXPECT_EQ(table.size(), kMost);
  std::size_t found = 0;
  for (std::uint32_t tid = 0; tid < 64; ++tid) {
    const Evidence* const evidence = table.find(thread(tid));
    if (evidence == nullptr) continue;
    ++found;
    EXPECT_EQ(evidence->wakeups, static_cast<float>(tid));
    EXPECT_NE(std::find(newest_first.begin(), newest_first.end(), tid), newest_first.end());
  }
  EXPECT_EQ(found, kMost);
}

// With ten of another one there is room for 90.
TEST(EvidenceTable, OneProcessTakesNothingOfSmallerOnes) {
  EvidenceTable table(100);
  for (std::uint32_t tid = 0; tid < 10; ++tid) table.touch(thread(tid, 2), {5}, kNow);
  for (std::uint32_t tid = 0; tid < 1000; ++tid) {
    EXPECT_EQ(table.touch(thread(tid), {5}, kNow) != nullptr, tid < 90) << tid;
  }
  EXPECT_EQ(table.dropped(), 910U);
  for (std::uint32_t tid = 0; tid < 10; ++tid) EXPECT_NE(table.find(thread(tid, 2)), nullptr);
  for (std::uint32_t tid = 10; tid < 100; ++tid) {
    EXPECT_EQ(table.touch(thread(tid, 2), {5}, kNow) != nullptr, tid < 50) << tid;
  }
  EXPECT_EQ(table.size(), 100U);
}

// What was to be kept apart by numbers shared them: processes 1,024 apart were one.
TEST(EvidenceTable, ProcessesOfOneUserTakeNothingOfAnothers) {
  EvidenceTable table(100);
  const EvidenceProcess mine{.start_ns = 5, .owner = 1}, other{.start_ns = 6, .owner = 2};
  for (std::uint32_t tid = 0; tid < 40; ++tid) table.touch(thread(tid, 7), mine, kNow);
  for (std::uint32_t window = 1; window < 20; ++window) {
    const MonotonicTime now = kNow + std::chrono::seconds(window);
    for (std::uint32_t process = 1; process < 500; ++process) {
      for (std::uint32_t tid = 0; tid < 3; ++tid) {
        table.touch(thread(tid, 7 + 1024 * process), other, now);
      }
    }
    for (std::uint32_t tid = 0; tid < 40; ++tid) {
      ASSERT_NE(table.find(thread(tid, 7)), nullptr) << window << " " << tid;
    }
  }
  // Up to one half each.
  for (std::uint32_t tid = 40; tid < 50; ++tid) {
    EXPECT_NE(table.touch(thread(tid, 7), mine, kNow + std::chrono::seconds(20)), nullptr) << tid;
  }
  EXPECT_EQ(table.size(), 100U);
  EXPECT_GT(table.dropped(), 20'000U);
}

TEST(EvidenceTable, WhoeverHasTheNumberNextInheritsNothing) {
  EvidenceTable table(100);
  for (std::uint32_t tid = 0; tid < 60; ++tid) {
    table.touch(thread(tid), {.start_ns = 5, .owner = 2}, kNow);
  }
  table.touch(thread(0), {.start_ns = 6, .owner = 1}, kNow);
  EXPECT_EQ(table.size(), 1U);
  for (std::uint32_t tid = 0; tid < 200; ++tid) {
    table.touch(thread(tid, 3), {.start_ns = 7, .owner = 2}, kNow);
  }
  EXPECT_NE(table.find(thread(0)), nullptr);
}

// What is forgotten makes room for its process.
TEST(EvidenceTable, ForgetsWhatWasNotTouchedForLong) {
  using std::chrono::seconds;
  EvidenceTable table(20);
  for (std::uint32_t tid = 0; tid < 10; ++tid) table.touch(thread(tid), {5}, kNow + seconds(tid));
  table.touch(thread(0), {5}, kNow + seconds(20));
  table.forget_before(kNow + seconds(7));
  EXPECT_EQ(table.size(), 4U);  // 7, 8, 9 and 0
  EXPECT_NE(table.find(thread(0)), nullptr);
  EXPECT_EQ(table.find(thread(6)), nullptr);
  for (std::uint32_t tid = 20; tid < 26; ++tid) {
    EXPECT_NE(table.touch(thread(tid), {5}, kNow + seconds(21)), nullptr) << tid;
  }
  EXPECT_EQ(table.size(), 10U);
  EXPECT_EQ(table.dropped(), 0U);
  table.forget_before(kNow + seconds(1000));
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace offcpud
