// SPDX-License-Identifier: Apache-2.0
#include "pipeline/in_progress.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "pipeline/thread_record.h"
#include "support/thread_record.h"
#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kSecond;

constexpr std::array<std::chrono::milliseconds, 3> kBounds = {1s, 10s, 60s};

std::string path_of(std::uint64_t id) {
  return "/" + std::to_string(id);
}

WaitsInProgress waits_of(const std::vector<offcpud_thread>& threads) {
  const InProgressByPath paths = waits_in_progress(*walk_of(threads), kBounds, path_of);
  return paths.size() == 1 ? paths.begin()->second.waits : WaitsInProgress{};
}

TEST(InProgress, CountsBlockedThreadsByReasonWithTheOldestOfEach) {
  const WaitsInProgress waits = waits_of({blocked_thread(7, OFFCPUD_BLOCKED_DISK, 5 * kSecond),
                                          blocked_thread(7, OFFCPUD_BLOCKED_DISK, 70 * kSecond),
                                          blocked_thread(7, OFFCPUD_BLOCKED_LOCK, 2)});
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_DISK].threads, 2U);
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_DISK].oldest.ns, 70 * kSecond);
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_LOCK].threads, 1U);
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_LOCK].oldest.ns, 2U);
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_POLL].threads, 0U);
  EXPECT_EQ(waits.oldest_runnable_ns, 0U);
}

TEST(InProgress, ABlockIsStalledOnceItIsLongerThanTheBound) {
  const auto stalled = [](std::uint64_t age_ns) {
    const auto waits = waits_of({blocked_thread(7, OFFCPUD_BLOCKED_DISK, age_ns)});
    const auto& counts = waits.blocked[OFFCPUD_BLOCKED_DISK].stalled;
    return std::array{counts[0], counts[1], counts[2], counts[3]};
  };
  EXPECT_EQ(stalled(kSecond), (std::array{0U, 0U, 0U, 0U}));
  EXPECT_EQ(stalled(kSecond + 1), (std::array{1U, 0U, 0U, 0U}));
  EXPECT_EQ(stalled(60 * kSecond), (std::array{1U, 1U, 0U, 0U}));
  EXPECT_EQ(stalled(60 * kSecond + 1), (std::array{1U, 1U, 1U, 0U}));
}

TEST(InProgress, AThreadOfUnknownBeginningIsBlockedButHasNoAge) {
  offcpud_thread unknown = blocked_thread(7, OFFCPUD_BLOCKED_KERNEL, 0);
  unknown.since_ns = 0;
  unknown.flags = OFFCPUD_THREAD_UNKNOWN;
  const WaitsInProgress waits = waits_of({unknown});
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_KERNEL].threads, 1U);
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_KERNEL].oldest.ns, 0U);
  EXPECT_EQ(waits.blocked[OFFCPUD_BLOCKED_KERNEL].stalled[0], 0U);
}

TEST(InProgress, ABlockThatBeganBeforeTheProgramsDidHasTheAgeThatTheSchedulerKnows) {
  offcpud_thread estimated = blocked_thread(7, OFFCPUD_BLOCKED_LOCK, 86'400 * kSecond);
  estimated.flags = OFFCPUD_THREAD_ESTIMATED;
  const BlocksInProgress blocks = waits_of({estimated}).blocked[OFFCPUD_BLOCKED_LOCK];
  EXPECT_EQ(blocks.oldest.ns, 86'400 * kSecond);
  EXPECT_EQ(blocks.stalled[2], 1U);
}

TEST(InProgress, WaitsThatWillBeCountedAreToldFromThoseThatWillNot) {
  offcpud_thread found_asleep = blocked_thread(7, OFFCPUD_BLOCKED_LOCK, 50 * kSecond);
  found_asleep.flags = OFFCPUD_THREAD_ESTIMATED;
  offcpud_thread without_work = blocked_thread(7, OFFCPUD_BLOCKED_KERNEL, 9 * kSecond);
  without_work.flags = OFFCPUD_THREAD_IDLE;
  const WaitsInProgress waits =
      waits_of({found_asleep, without_work, blocked_thread(7, OFFCPUD_BLOCKED_LOCK, 2 * kSecond),
                thread_in(OFFCPUD_THREAD_RUNNING, 7, 20)});
  const OpenWaits& lock = waits.open[OFFCPUD_BLOCKED_LOCK];
  EXPECT_EQ(lock.threads, 2U);
  EXPECT_EQ(lock.uncounted, 1U);
  EXPECT_EQ(lock.counted_ns, 2 * kSecond);
  const OpenWaits& kernel = waits.open[OFFCPUD_BLOCKED_KERNEL];
  EXPECT_EQ(kernel.for_work, 1U);
  EXPECT_EQ(kernel.counted_ns, 9 * kSecond);
}

TEST(InProgress, TheWaitThatAThreadWasFoundInIsNoTimeThatWillBeCredited) {
  offcpud_thread found_asleep = blocked_thread(7, OFFCPUD_BLOCKED_LOCK, 1'000);
  found_asleep.flags = OFFCPUD_THREAD_ESTIMATED;
  offcpud_thread found_running = thread_in(OFFCPUD_THREAD_RUNNING, 7, 20);
  found_running.flags = OFFCPUD_THREAD_ESTIMATED;
  const auto walk =
      walk_of({found_asleep, found_running, blocked_thread(7, OFFCPUD_BLOCKED_LOCK, 3)});
  EXPECT_EQ(waits_in_progress(*walk, kBounds, path_of).at("/7").open.in_progress_ns, 23U);
}

TEST(InProgress, AnIdleKernelThreadIsCountedButNeverStalled) {
  offcpud_thread idle = blocked_thread(1, OFFCPUD_BLOCKED_KERNEL, 1'000 * kSecond);
  idle.flags = OFFCPUD_THREAD_KERNEL | OFFCPUD_THREAD_IDLE;
  offcpud_thread stuck = blocked_thread(1, OFFCPUD_BLOCKED_KERNEL, 11 * kSecond);
  stuck.flags = OFFCPUD_THREAD_KERNEL;
  const BlocksInProgress blocks = waits_of({idle, stuck}).blocked[OFFCPUD_BLOCKED_KERNEL];
  EXPECT_EQ(blocks.threads, 2U);
  EXPECT_EQ(blocks.oldest.ns, 11 * kSecond);
  EXPECT_EQ(blocks.stalled[1], 1U);
  EXPECT_EQ(blocks.stalled[2], 0U);
}

TEST(InProgress, TheOldestRunnableIsTheLongestWaitInAQueue) {
  const WaitsInProgress waits = waits_of({thread_in(OFFCPUD_THREAD_RUNNABLE, 7, 3),
                                          thread_in(OFFCPUD_THREAD_RUNNABLE, 7, 20 * kSecond),
                                          thread_in(OFFCPUD_THREAD_RUNNING, 7, 99 * kSecond)});
  EXPECT_EQ(waits.oldest_runnable_ns, 20 * kSecond);
}

TEST(InProgress, AnEndedThreadCountsNowhere) {
  const auto walk = walk_of({thread_in(OFFCPUD_THREAD_ENDED, 7, 5 * kSecond)});
  EXPECT_TRUE(waits_in_progress(*walk, kBounds, path_of).empty());
}

TEST(InProgress, AThreadWhoseClockIsBehindHasNoAge) {
  offcpud_thread thread = blocked_thread(7, OFFCPUD_BLOCKED_DISK, 0);
  thread.since_ns = thread.now_ns + 50;
  EXPECT_EQ(age_ns(thread), 0U);
  EXPECT_EQ(waits_of({thread}).blocked[OFFCPUD_BLOCKED_DISK].stalled[0], 0U);
}

TEST(InProgress, ARestartedUnitsCgroupsShareAPathAndEachIdIsAskedForOnce) {
  std::multiset<std::uint64_t> asked;
  const auto same_path = [&](std::uint64_t id) -> std::string {
    asked.insert(id);
    return "/web.service";
  };
  const auto walk = walk_of({blocked_thread(7, OFFCPUD_BLOCKED_POLL, 1),
                             blocked_thread(8, OFFCPUD_BLOCKED_POLL, 9),
                             blocked_thread(7, OFFCPUD_BLOCKED_POLL, 4)});
  const InProgressByPath paths = waits_in_progress(*walk, kBounds, same_path);
  EXPECT_EQ(asked, (std::multiset<std::uint64_t>{7, 8}));
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths.at("/web.service").waits.blocked[OFFCPUD_BLOCKED_POLL].threads, 3U);
  EXPECT_EQ(paths.at("/web.service").open.in_progress_ns, 14U);
}

TEST(InProgress, TwoCgroupsTogetherHaveTheSumOfThreadsAndTheOlderAge) {
  WaitsInProgress sum = waits_of({blocked_thread(7, OFFCPUD_BLOCKED_DISK, 11 * kSecond),
                                  thread_in(OFFCPUD_THREAD_RUNNABLE, 7, 3)});
  add_waits(sum, waits_of({blocked_thread(8, OFFCPUD_BLOCKED_DISK, 2 * kSecond),
                           thread_in(OFFCPUD_THREAD_RUNNABLE, 8, 4)}));
  const BlocksInProgress& disk = sum.blocked[OFFCPUD_BLOCKED_DISK];
  EXPECT_EQ(disk.threads, 2U);
  EXPECT_EQ(disk.oldest.ns, 11 * kSecond);
  EXPECT_EQ(disk.stalled[0], 2U);
  EXPECT_EQ(disk.stalled[1], 1U);
  EXPECT_EQ(sum.oldest_runnable_ns, 4U);
}

}  // namespace
}  // namespace offcpud
