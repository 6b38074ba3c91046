// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/pipeline/examined_stalls_fixture.h"

namespace offcpud::test {
namespace {

// Where no stack was examined in time, and where one was later.
class StallsByReasonTest : public ExaminedStallsTest {};

// Nobody is told before the stack was looked at, unless that takes too long.
TEST_F(StallsByReasonTest, WaitsForTheStackButNotForEver) {
  const offcpud_thread disk = blocked(110, 60s, OFFCPUD_BLOCKED_DISK);
  const offcpud_thread poll = blocked(111, 60s, OFFCPUD_BLOCKED_POLL);
  walk({disk, poll});
  EXPECT_TRUE(stalls().empty()) << "nothing has been examined yet";
  clock_.advance(StallLog::kExaminedWithin - 1s);
  walk({disk, poll});
  EXPECT_TRUE(stalls().empty());
  clock_.advance(1s);
  walk({disk, poll});
  ASSERT_EQ(stalls().size(), 1U) << "its reason decides, as without stacks";
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_FALSE(stalls()[0]->wait);
  // Examined at last, it turns out to be idle.
  examined({{disk, wait(WaitFor::Work)}});
  pass();
  EXPECT_TRUE(stalls().empty());
}

// Idle threads of Go have the reason `lock`, readers of a quiet pipe `pipe`.
TEST_F(StallsByReasonTest, OnlyReasonsOfWhichTheKernelIsCertainDecide) {
  std::vector<offcpud_thread> threads;
  for (std::uint32_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    threads.push_back(blocked(1'000 + kind, 60s, kind));
  }
  walk(threads);
  clock_.advance(StallLog::kExaminedWithin);
  walk(threads);
  std::vector<std::size_t> kinds;
  for (const auto& stall : stalls()) kinds.push_back(stall->kind);
  EXPECT_THAT(kinds, testing::UnorderedElementsAre(OFFCPUD_BLOCKED_DISK, OFFCPUD_BLOCKED_KERNEL,
                                                   OFFCPUD_BLOCKED_STOPPED));
  const auto untold_kinds = log_.list()->untold;
  EXPECT_EQ(untold_kinds.size(), 4U) << "lock, network, pipe and other may be stuck as well";
  EXPECT_EQ(untold(WaitFor::Unknown), 4U);
}

TEST_F(StallsByReasonTest, OfMoreEndsThanCanWaitForTheirStackOnlyThoseAreTold) {
  walk({});
  clock_.advance(StallLog::kExaminedWithin);
  std::vector<offcpud_stall_end> ends;
  for (std::uint32_t tid = 1'000; tid < 1'000 + StallLog::kMaxInProgress; ++tid) {
    ends.push_back(end_of(blocked(tid, 15s), clock_.now()));
  }
  ends.push_back(end_of(blocked(100'000, 15s), clock_.now()));
  ends.push_back(end_of(blocked(100'001, 15s, OFFCPUD_BLOCKED_DISK), clock_.now()));
  pass(ends);
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 100'001U);
}

// Threads of a driver that wait for work uninterruptibly, while a busy host leaves no time to
// examine stacks.
TEST_F(StallsByReasonTest, AReasonInWhichTheProcessWasIdleDoesNotDecide) {
  const offcpud_thread idle = blocked(110, 20s, OFFCPUD_BLOCKED_KERNEL);
  const offcpud_thread disk = blocked(111, 20s, OFFCPUD_BLOCKED_DISK);
  examined({{idle, wait(WaitFor::Work)}});
  walk({idle, disk});
  clock_.advance(60s);
  const offcpud_thread again = blocked(112, 50s, OFFCPUD_BLOCKED_KERNEL);
  offcpud_thread other = blocked(113, 50s, OFFCPUD_BLOCKED_KERNEL);
  other.tgid = 300;
  walk({again, disk, other});
  ASSERT_EQ(stalls().size(), 2U);
  EXPECT_EQ(stalls()[0]->tid, 111U) << "nothing is known of its disks";
  EXPECT_EQ(stalls()[1]->tid, 113U) << "nor of the other process";
  EXPECT_EQ(untold(WaitFor::Unknown), 1U);
  // Its stack says more than its past does.
  examined({{again, wait(WaitFor::Lock)}});
  pass();
  ASSERT_EQ(stalls().size(), 3U);
  clock_.advance(40s);
  const offcpud_thread third = blocked(114, 40s, OFFCPUD_BLOCKED_KERNEL);
  walk({third}, {end_of(again, clock_.now())});
  const auto all = stalls();
  EXPECT_TRUE(std::ranges::any_of(all, [](const auto& stall) { return stall->tid == 114; }))
      << "the last one that was examined was stuck";
}

// When the daemon starts on a busy host.
TEST_F(StallsByReasonTest, AnEndBeforeTheFirstLookAtLastingBlocksIsNotTold) {
  walk({});
  const offcpud_thread before = blocked(110, 15s, OFFCPUD_BLOCKED_DISK);
  const offcpud_thread after = blocked(111, 15s, OFFCPUD_BLOCKED_DISK);
  pass({end_of(before, clock_.now())});
  clock_.advance(1s);
  const MonotonicTime first_look = clock_.now();
  pass({end_of(after, clock_.now())});
  clock_.advance(10s);
  examined({}, first_look);
  pass();
  clock_.advance(StallLog::kExaminedWithin);
  pass();
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 111U);
}

TEST_F(StallsByReasonTest, ARuleThatAsksForAnIdleReasonHolds) {
  offcpud_thread asked = blocked(110, 20s, OFFCPUD_BLOCKED_SLEEP);
  name(asked, "asked");
  const offcpud_thread other = blocked(111, 20s, OFFCPUD_BLOCKED_SLEEP);
  examined({{asked, wait(WaitFor::Timer)}, {other, wait(WaitFor::Timer)}});
  walk({asked, other});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_EQ(untold(WaitFor::Timer), 1U);
}

TEST_F(StallsByReasonTest, WithoutStacksReasonsDecide) {
  log_.set_policy(policy());
  const offcpud_thread lock = blocked(110, 20s);
  examined({{lock, wait(WaitFor::Work)}});
  walk({lock});
  EXPECT_EQ(stalls().size(), 1U);
  EXPECT_FALSE(log_.list()->examines);
}

// snapshots.reasons leaves some out: no sample of them ever comes.
TEST_F(StallsByReasonTest, AReasonThatIsNotExaminedDecidesAtOnce) {
  StallPolicy only_poll = policy();
  only_poll.examined_kinds = 1U << OFFCPUD_BLOCKED_POLL;
  log_.set_policy(only_poll);
  const offcpud_thread lock = blocked(110, 20s);
  const offcpud_thread poll = blocked(111, 20s, OFFCPUD_BLOCKED_POLL);
  const offcpud_thread sleep = blocked(112, 20s, OFFCPUD_BLOCKED_SLEEP);
  const offcpud_thread between = blocked(113, 20s);
  walk({lock, poll, sleep}, {end_of(between, clock_.now())});
  ASSERT_EQ(stalls().size(), 2U);
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_EQ(stalls()[1]->tid, 113U);
  // What was examined before a change of that setting no longer counts.
  examined({{lock, wait(WaitFor::Work)}, {poll, wait(WaitFor::Lock)}});
  walk({lock, poll, sleep});
  EXPECT_EQ(stalls().size(), 3U);
}

TEST_F(StallsByReasonTest, AReasonThatIsExaminedFromNowOnGetsItsTime) {
  StallPolicy only_poll = policy();
  only_poll.examined_kinds = 1U << OFFCPUD_BLOCKED_POLL;
  log_.set_policy(only_poll);
  walk({});
  clock_.advance(2 * StallLog::kExaminedWithin);
  log_.set_policy(examining_policy());
  walk({blocked(110, 60s)});
  EXPECT_TRUE(stalls().empty());
}

TEST_F(StallsByReasonTest, WhatIsTakenBackEndsInTheLogToo) {
  walk({});
  clock_.advance(StallLog::kExaminedWithin);
  const offcpud_thread lock = blocked(110, 60s, OFFCPUD_BLOCKED_KERNEL);
  walk({lock});
  ASSERT_EQ(log_.take_changes().begun.size(), 1U);
  examined({{lock, wait(WaitFor::Work)}});
  walk({lock});
  EXPECT_TRUE(stalls().empty());
  const StallChanges changes = log_.take_changes();
  EXPECT_TRUE(changes.begun.empty());
  ASSERT_EQ(changes.ended.size(), 1U);
  EXPECT_TRUE(changes.ended[0]->taken_back);
  EXPECT_EQ(changes.ended[0]->wait->wait_for, WaitFor::Work);
  pass({end_of(lock, clock_.now())});
  EXPECT_TRUE(log_.take_changes().ended.empty()) << "once";
}

TEST_F(StallsByReasonTest, NobodyHearsOfWhatIsTakenBackBeforeItIsTold) {
  const offcpud_thread unknown = blocked(110, 20s);
  examined({{unknown, wait(WaitFor::Unknown, false)}});
  walk({unknown});
  EXPECT_TRUE(log_.take_changes().begun.empty());
  examined({{unknown, wait(WaitFor::Work)}});
  walk({unknown});
  EXPECT_TRUE(log_.take_changes().ended.empty());
}

// Its reason decided, because nothing examined it in time; then its stack leaves it open.
TEST_F(StallsByReasonTest, WhatItsReasonDecidedIsTakenBackIfItsStackIsNotCertain) {
  walk({});
  clock_.advance(StallLog::kExaminedWithin);
  const offcpud_thread unknown = blocked(110, 60s, OFFCPUD_BLOCKED_KERNEL);
  const offcpud_thread unsure = blocked(111, 60s, OFFCPUD_BLOCKED_KERNEL);
  walk({unknown, unsure});
  ASSERT_EQ(log_.take_changes().begun.size(), 2U);
  examined({{unknown, wait(WaitFor::Unknown, false)}, {unsure, wait(WaitFor::Answer, false)}});
  walk({unknown, unsure});
  EXPECT_TRUE(stalls().empty());
  EXPECT_EQ(log_.list()->untold.size(), 2U) << "who asks for them sees them";
  EXPECT_EQ(untold(WaitFor::Unknown), 2U);
  const StallChanges changes = log_.take_changes();
  ASSERT_EQ(changes.ended.size(), 2U);
  EXPECT_TRUE(changes.ended[0]->taken_back);
  // Nothing new is known of them.
  walk({unknown, unsure});
  EXPECT_TRUE(stalls().empty());
  EXPECT_TRUE(log_.take_changes().ended.empty());
  // At last something is.
  examined({{unknown, wait(WaitFor::Lock)}});
  walk({unknown, unsure});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(log_.take_changes().begun.size(), 1U);
}

TEST_F(StallsByReasonTest, WhatAStackWasCertainAboutStaysSo) {
  const offcpud_thread lock = blocked(110, 60s, OFFCPUD_BLOCKED_CONDVAR);
  examined({{lock, wait(WaitFor::Lock)}});
  walk({lock});
  ASSERT_EQ(log_.take_changes().begun.size(), 1U);
  for (int i = 0; i < 3; ++i) {
    examined({{lock, wait(WaitFor::Unknown, false)}});
    walk({lock});
    ASSERT_EQ(stalls().size(), 1U);
    EXPECT_EQ(stalls()[0]->wait->wait_for, WaitFor::Lock);
  }
  examined({{lock, wait(WaitFor::Work)}});
  walk({lock});
  EXPECT_TRUE(stalls().empty()) << "that it is idle is no doubt";
}

}  // namespace
}  // namespace offcpud::test
