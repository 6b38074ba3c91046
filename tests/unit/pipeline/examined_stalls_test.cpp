// SPDX-License-Identifier: Apache-2.0
#include "unit/pipeline/examined_stalls_fixture.h"

namespace offcpud::test {
namespace {

TEST_F(ExaminedStallsTest, WhatIsActionableForCertainIsAStallWhateverItsReason) {
  const offcpud_thread poll = blocked(110, 20s, OFFCPUD_BLOCKED_POLL);
  const offcpud_thread lock = blocked(111, 20s, OFFCPUD_BLOCKED_CONDVAR);
  examined({{poll, wait(WaitFor::Answer)}, {lock, wait(WaitFor::Lock)}});
  walk({poll, lock});
  ASSERT_EQ(stalls().size(), 2U);
  EXPECT_EQ(stalls()[0]->wait->wait_for, WaitFor::Answer);
  EXPECT_EQ(stalls()[0]->wait->site, "site");
  EXPECT_EQ(log_.take_changes().begun.size(), 2U);
  pass({end_of(poll, clock_.now())});
  EXPECT_EQ(log_.take_changes().ended.size(), 1U);
  EXPECT_EQ(log_.filter().kinds, (1U << OFFCPUD_BLOCKED_KINDS) - 1) << "their ends must come";
}

TEST_F(ExaminedStallsTest, WhatWaitsForWorkOrATimerNeverIs) {
  const offcpud_thread work = blocked(110, 100s, OFFCPUD_BLOCKED_LOCK);
  const offcpud_thread timer = blocked(111, 100s, OFFCPUD_BLOCKED_OTHER);
  const offcpud_thread unsure = blocked(112, 100s, OFFCPUD_BLOCKED_PIPE);
  examined({{work, wait(WaitFor::Work)},
            {timer, wait(WaitFor::Timer)},
            {unsure, wait(WaitFor::Work, false)}});
  for (int i = 0; i < 10; ++i) {
    walk({work, timer, unsure});
    clock_.advance(10s);
  }
  EXPECT_TRUE(stalls().empty());
  EXPECT_EQ(untold(WaitFor::Work), 2U);
  EXPECT_EQ(untold(WaitFor::Timer), 1U);
  EXPECT_EQ(untold(WaitFor::Unknown), 0U);
  pass({end_of(work, clock_.now())});
  EXPECT_TRUE(log_.take_changes().ended.empty());
}

// A shell waits as long as what it runs; if that is stuck, it is told itself.
TEST_F(ExaminedStallsTest, WhoWaitsForItsChildIsNotTold) {
  const offcpud_thread shell = blocked(110, 100s, OFFCPUD_BLOCKED_CHILD);
  const offcpud_thread child = blocked(111, 90s, OFFCPUD_BLOCKED_LOCK);
  examined({{shell, wait(WaitFor::Answer)}, {child, wait(WaitFor::Lock)}});
  walk({shell, child});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 111U);
  EXPECT_EQ(untold(WaitFor::Answer), 1U);
  EXPECT_EQ(untold(WaitFor::Unknown), 0U);
}

TEST_F(ExaminedStallsTest, WhatNobodyCanTellIsKeptAndNotTold) {
  const offcpud_thread unknown = blocked(110, 20s);
  const offcpud_thread unsure = blocked(111, 30s, OFFCPUD_BLOCKED_POLL);
  const offcpud_thread young = blocked(112, 5s);
  examined({{unknown, wait(WaitFor::Unknown, false)},
            {unsure, wait(WaitFor::Answer, false)},
            {young, wait(WaitFor::Unknown, false)}});
  walk({unknown, unsure, young});
  EXPECT_TRUE(stalls().empty());
  EXPECT_TRUE(log_.take_changes().begun.empty());
  EXPECT_EQ(log_.wanted().size(), 2U) << "who asks for them wants to know more";
  EXPECT_EQ(log_.list()->detail_pending, 0U);
  const auto list = log_.list();
  ASSERT_EQ(list->untold.size(), 2U);
  EXPECT_EQ(list->untold[0]->tid, 111U) << "oldest first";
  EXPECT_FALSE(list->untold[0]->told);
  EXPECT_EQ(untold(WaitFor::Unknown), 2U);

  // The next window knows more: one is told now, the other is idle.
  examined({{unknown, wait(WaitFor::Lock)}, {unsure, wait(WaitFor::Work)}});
  walk({unknown, unsure});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_EQ(log_.take_changes().begun.size(), 1U);
  EXPECT_EQ(untold(WaitFor::Unknown), 0U);
  EXPECT_EQ(untold(WaitFor::Work), 1U);
}

TEST_F(ExaminedStallsTest, AnUntoldOneEndsUntold) {
  const offcpud_thread unknown = blocked(110, 20s);
  examined({{unknown, wait(WaitFor::Unknown, false)}});
  walk({unknown});
  pass({end_of(unknown, clock_.now())});
  EXPECT_TRUE(log_.list()->stalls.empty());
  EXPECT_TRUE(log_.list()->untold.empty());
  const StallChanges changes = log_.take_changes();
  EXPECT_TRUE(changes.begun.empty() && changes.ended.empty());
}

TEST_F(ExaminedStallsTest, AnEndBetweenTwoWalksWaitsForItsStack) {
  walk({});
  clock_.advance(60s);
  const offcpud_thread lock = blocked(110, 15s, OFFCPUD_BLOCKED_POLL);
  const offcpud_thread idle = blocked(111, 15s);
  offcpud_thread lost = blocked(112, 15s, OFFCPUD_BLOCKED_DISK);
  offcpud_thread lost_poll = blocked(113, 15s, OFFCPUD_BLOCKED_POLL);
  lost.tgid = lost_poll.tgid = 300;  // of which nothing was ever examined
  pass({end_of(lock, clock_.now()), end_of(idle, clock_.now()), end_of(lost, clock_.now()),
        end_of(lost_poll, clock_.now())});
  EXPECT_TRUE(stalls().empty());
  clock_.advance(10s);
  examined({{lock, wait(WaitFor::Lock)}, {idle, wait(WaitFor::Work)}});
  pass();
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_EQ(stalls()[0]->wait->wait_for, WaitFor::Lock);
  EXPECT_TRUE(stalls()[0]->ended);
  clock_.advance(StallLog::kExaminedWithin);
  pass();
  ASSERT_EQ(stalls().size(), 2U) << "by its reason";
  EXPECT_EQ(stalls()[0]->tid, 112U);
}

// Samples have another beginning of it.
TEST_F(ExaminedStallsTest, FindsTheStackOfABlockOlderThanTheDaemon) {
  offcpud_thread old = blocked(110, 30min);
  old.flags = OFFCPUD_THREAD_ESTIMATED;
  offcpud_thread as_sampled = old;
  as_sampled.since_ns += 29 * (60 * kSecond);
  examined({{as_sampled, wait(WaitFor::Lock)}});
  walk({old});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_TRUE(stalls()[0]->estimated);
  EXPECT_EQ(stalls()[0]->wait->wait_for, WaitFor::Lock);
}

// A pass may be much rarer than windows.
TEST_F(ExaminedStallsTest, ManyWindowsBetweenTwoPassesAllCount) {
  walk({});
  clock_.advance(5min);
  const offcpud_thread early = blocked(110, 4min, OFFCPUD_BLOCKED_POLL);
  examined({{early, wait(WaitFor::Lock)}});
  for (int i = 1; i < 30; ++i) examined({});
  pass({end_of(early, clock_.now() - 3min)});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->wait->wait_for, WaitFor::Lock);
}

TEST_F(ExaminedStallsTest, WindowsAreForgottenAfterTwoPasses) {
  const offcpud_thread lock = blocked(110, 20s, OFFCPUD_BLOCKED_POLL);
  examined({{lock, wait(WaitFor::Lock)}});
  pass();
  pass();
  examined({});
  EXPECT_EQ(log_.windows(), 2U);
  examined({});
  EXPECT_EQ(log_.windows(), 2U) << "the first one is gone";
  for (std::size_t i = 0; i < 2 * StallLog::kMaxWindows; ++i) examined({});
  EXPECT_EQ(log_.windows(), StallLog::kMaxWindows);
  const ExaminedThreads many(StallLog::kMaxExamined / 4, {lock, wait(WaitFor::Lock)});
  for (int i = 0; i < 6; ++i) examined(many);
  EXPECT_EQ(log_.windows(), 4U);
}

TEST_F(ExaminedStallsTest, UntoldOnesTakeNoRoomOfStalls) {
  auto [threads, blocks] = as_many_as_are_told(wait(WaitFor::Unknown, false));
  const offcpud_thread lock = blocked(100'000, 20s);
  threads.push_back(lock);
  blocks.emplace_back(lock, wait(WaitFor::Lock));
  examined(blocks);
  walk(threads);
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 100'000U);
  EXPECT_EQ(log_.list()->beyond_limit(), 0U);
  EXPECT_EQ(log_.list()->untold.size(), StallLog::kMaxUntold);
  EXPECT_EQ(untold(WaitFor::Unknown), StallLog::kMaxInProgress) << "all are counted";
}

// What another cgroup, or another program of the same one, waits for may be unusual.
TEST_F(ExaminedStallsTest, ACrowdOfUntoldOnesTakesNoRoomOfOthers) {
  auto [threads, blocks] = as_many_as_are_told(wait(WaitFor::Unknown, false));
  examined(blocks);
  walk(threads);
  const auto untold_now = [this] { return log_.list()->untold; };
  EXPECT_EQ(untold_now().size(), StallLog::kMaxUntold);
  const auto tid_of = [](const auto& stall) { return stall->tid; };
  const auto before = untold_now();
  examined(blocks);
  walk(threads);
  EXPECT_TRUE(std::ranges::equal(before, untold_now(), {}, tid_of, tid_of))
      << "none of them is exchanged for one that is no better";

  offcpud_thread elsewhere = blocked(100'000, 20s);
  elsewhere.cgroup_id = kCgroup + 1;
  elsewhere.tgid = 101;
  offcpud_thread beside = blocked(10, 20s);
  beside.tgid = 102;
  for (const offcpud_thread& each : {elsewhere, beside}) {
    threads.push_back(each);
    blocks.emplace_back(each, wait(WaitFor::Unknown, false));
  }
  examined(blocks);
  walk(threads);
  const auto has = [&](std::uint32_t tid) {
    return std::ranges::any_of(untold_now(), [&](const auto& stall) { return stall->tid == tid; });
  };
  EXPECT_TRUE(has(elsewhere.tid)) << "of another cgroup";
  EXPECT_TRUE(has(beside.tid)) << "another process of the same";
  EXPECT_EQ(untold_now().size(), StallLog::kMaxUntold);
  EXPECT_EQ(untold(WaitFor::Unknown), threads.size()) << "all are counted, and none twice";
}

TEST_F(ExaminedStallsTest, UntoldOnesThatTurnOutToBeStallsObeyTheLimit) {
  auto [threads, blocks] = as_many_as_are_told(wait(WaitFor::Lock));
  threads.push_back(blocked(100'000, 20s));
  blocks.emplace_back(threads.back(), wait(WaitFor::Unknown, false));
  examined(blocks);
  walk(threads);
  EXPECT_EQ(log_.list()->untold.size(), 1U);
  blocks.back().second = wait(WaitFor::Lock);
  examined(blocks);
  walk(threads);
  EXPECT_EQ(stalls().size(), StallLog::kMaxInProgress);
  EXPECT_TRUE(log_.list()->untold.empty());
  EXPECT_EQ(log_.list()->beyond_limit(), 1U);
  pass({end_of(threads.front(), clock_.now())});
  walk({threads.begin() + 1, threads.end()});
  EXPECT_EQ(log_.list()->beyond_limit(), 0U);
}

// A crowd in flock() takes every record; the disk of another cgroup hangs meanwhile.
TEST_F(ExaminedStallsTest, StallsBeyondTheLimitCountByCgroupAndWhatFor) {
  auto [threads, blocks] = as_many_as_are_told(wait(WaitFor::Lock));
  for (std::uint32_t tid = 100'000; tid < 100'003; ++tid) {
    const WaitFor wait_for = tid == 100'000 ? WaitFor::Lock : WaitFor::Storage;
    threads.push_back(blocked(tid, tid * 1ms, OFFCPUD_BLOCKED_DISK));
    threads.back().cgroup_id = kCgroup + 1;
    blocks.emplace_back(threads.back(), wait(wait_for));
  }
  examined(blocks);
  walk(threads);
  clock_.advance(5s);
  pass();
  EXPECT_EQ(stalls().size(), StallLog::kMaxInProgress);
  EXPECT_EQ(log_.list()->beyond_limit(), 3U);
  auto unlisted = log_.list()->unlisted;
  ASSERT_EQ(unlisted.size(), 2U);
  std::ranges::sort(unlisted, {}, &UnlistedStalls::threads);
  EXPECT_EQ(unlisted[0].wait_for, WaitFor::Lock);
  EXPECT_EQ(unlisted[1].wait_for, WaitFor::Storage);
  EXPECT_EQ(unlisted[1].threads, 2U);
  EXPECT_EQ(unlisted[1].oldest.ns, ns(MonotonicTime(100'002ms + 5s)));
  EXPECT_EQ(unlisted[1].labels, labels_);
  walk({});
  EXPECT_TRUE(log_.list()->unlisted.empty());
}

// The walk read the thread before its end, and became complete after it.
TEST_F(ExaminedStallsTest, AnEndThatWaitsForItsStackIsToldOnce) {
  walk({});
  const offcpud_thread disk = blocked(110, 15s, OFFCPUD_BLOCKED_DISK);
  clock_.advance(StallLog::kExaminedWithin);
  walk({disk}, {end_of(disk, clock_.now())});
  EXPECT_TRUE(stalls().empty());
  for (int i = 0; i < 4; ++i) {
    clock_.advance(10s);
    walk({});
  }
  EXPECT_EQ(stalls().size(), 1U) << "when nothing examined it";
  const StallChanges changes = log_.take_changes();
  EXPECT_EQ(changes.begun.size(), 1U);
  EXPECT_EQ(changes.ended.size(), 1U);
}

}  // namespace
}  // namespace offcpud::test
