// SPDX-License-Identifier: Apache-2.0
#include "pipeline/thread_interval.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "support/thread_walks.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using test::kDisk;
using test::kSecond;
using test::kWakeup;
using test::thread;
using test::walk_at;

std::uint64_t total(const ThreadInterval& interval) {
  return std::accumulate(interval.waited_ns.begin(), interval.waited_ns.end(), std::uint64_t{0});
}

TEST(ThreadInterval, AWaitThatLastsCountsWithThePartWithinTheInterval) {
  const auto before = thread(7).blocked(kDisk, 3).at(100);
  const auto now = thread(7).blocked(kDisk, 3).at(110);
  const ThreadInterval interval = thread_interval(&before, now, 0);
  EXPECT_EQ(interval.waited_ns[kDisk], 10 * kSecond);
  EXPECT_EQ(total(interval), 10 * kSecond);
  EXPECT_EQ(interval.running_ns, 0U);
}

TEST(ThreadInterval, AWaitThatBeganEarlierAndEndedCountsWithoutWhatWasCountedBefore) {
  const auto before = thread(7).blocked(kDisk, 10).waited(kDisk, 5).ran(1).at(100);
  // Woke at 104 after 94 s, waited 1 s for a CPU, ran 2 s, blocks again since 107.
  const auto now =
      thread(7).blocked(kDisk, 107).waited(kDisk, 99).waited(kWakeup, 1).ran(3).at(110);
  const ThreadInterval interval = thread_interval(&before, now, 0);
  EXPECT_EQ(interval.waited_ns[kDisk], 7 * kSecond);
  EXPECT_EQ(interval.waited_ns[kWakeup], 1 * kSecond);
  EXPECT_EQ(interval.running_ns, 2 * kSecond);
  EXPECT_EQ(interval.ended_ns[kDisk], 94 * kSecond);
  EXPECT_EQ(interval.in_progress_ns, 3 * kSecond);
}

TEST(ThreadInterval, RunningThatLastsCountsOnce) {
  const auto before = thread(7).running(95).ran(20).at(100);
  const auto still = thread(7).running(95).ran(20).at(110);
  EXPECT_EQ(thread_interval(&before, still, 0).running_ns, 10 * kSecond);
  const auto left = thread(7).runnable(kWakeup, 109).ran(33).at(110);  // ran from 95 to 108
  EXPECT_EQ(thread_interval(&before, left, 0).running_ns, 8 * kSecond);
}

TEST(ThreadInterval, ANewThreadHasAllItWaited) {
  const auto now = thread(7).blocked(kDisk, 108).waited(kWakeup, 1).ran(2).at(110);
  const ThreadInterval interval = thread_interval(nullptr, now, 100 * kSecond);
  EXPECT_EQ(interval.waited_ns[kDisk], 2 * kSecond);
  EXPECT_EQ(interval.waited_ns[kWakeup], 1 * kSecond);
  EXPECT_EQ(interval.running_ns, 2 * kSecond);
}

TEST(ThreadInterval, NothingIsLongerThanTheInterval) {
  const auto now = thread(7).blocked(kDisk, 1).waited(kDisk, 90).ran(80).at(110);
  const ThreadInterval interval = thread_interval(nullptr, now, 100 * kSecond);
  EXPECT_EQ(interval.waited_ns[kDisk], 10 * kSecond);
  EXPECT_EQ(interval.running_ns, 10 * kSecond);
}

TEST(ThreadInterval, AWaitWithoutAKnownBeginningIsNeitherCountedNorTakenOff) {
  const auto unknown = thread(7).blocked(kDisk, 0).flagged(OFFCPUD_THREAD_UNKNOWN);
  const auto before = test::ThreadRecord(unknown).at(100);
  EXPECT_EQ(total(thread_interval(&before, test::ThreadRecord(unknown).at(110), 0)), 0U);

  // It is not counted when it ends, so nothing of it may be taken off what is counted after it.
  const auto estimated = thread(7).blocked(kDisk, 1).flagged(OFFCPUD_THREAD_ESTIMATED).at(100);
  const auto now = thread(7).running(109).waited(kDisk, 3).at(110);
  EXPECT_EQ(thread_interval(&estimated, now, 0).waited_ns[kDisk], 3 * kSecond);
}

TEST(ThreadInterval, ExecByAnotherThreadDoesNotBringItsPastAlong) {
  // The thread that called exec has the leader's tid and start from then on, and its own counts.
  const auto leader = thread(7).blocked(kDisk, 99).waited(kDisk, 50).ran(9).at(100);
  const auto now = thread(7).blocked(kDisk, 108).waited(kDisk, 60).ran(1).at(110);
  const ThreadInterval interval = thread_interval(&leader, now, 0);
  EXPECT_EQ(interval.waited_ns[kDisk], 2 * kSecond);
  EXPECT_EQ(interval.running_ns, 0U);
}

TEST(WalkPairing, FindsWhatStayedWhatIsNewAndWhatIsGone) {
  const auto before = walk_at(1, {thread(1), thread(2), thread(4).started(4), thread(9)});
  const auto now = walk_at(2, {thread(2), thread(3), thread(4).started(5)});
  std::vector<std::string> seen;
  WalkPairing(before.get(), *now).for_each([&](const offcpud_thread* a, const offcpud_thread* b) {
    seen.push_back((a ? std::to_string(a->tid) : "-") + (b ? std::to_string(b->tid) : "-"));
  });
  // The number 4 was given to another thread: one is gone, one is new.
  EXPECT_EQ(seen, (std::vector<std::string>{"1-", "22", "-3", "4-", "-4", "9-"}));
}

TEST(WalkTimes, AreThoseOfTheFirstAndTheLastRecord) {
  ThreadWalk walk;
  EXPECT_EQ(walk_begin_ns(walk), 0U);
  EXPECT_EQ(walk_end_ns(walk), 0U);
  walk.threads = {thread(1).at(5), thread(2).at(3), thread(3).at(9)};
  EXPECT_EQ(walk_begin_ns(walk), 3 * kSecond);
  EXPECT_EQ(walk_end_ns(walk), 9 * kSecond);
}

}  // namespace
}  // namespace offcpud
