// SPDX-License-Identifier: Apache-2.0
#include "unit/pipeline/stall_log_fixture.h"

namespace offcpud::test {
namespace {

StallPolicy examining_policy() {
  StallPolicy examining = policy();
  examining.examined_kinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
  return examining;
}

using ExaminedThreads = std::vector<std::pair<offcpud_thread, ExaminedWait>>;

// Stacks are examined.
class ExaminedStallsTest : public StallLogTest {
 protected:
  ExaminedStallsTest() { log_.set_policy(examining_policy()); }

  // The next window has these blocks.
  void examined(const ExaminedThreads& blocks, MonotonicTime end = {}) {
    auto window = std::make_shared<WaitWindow>();
    window->end_at = end;
    for (const auto& [thread, wait] : blocks) {
      window->blocks.push_back({.tid = thread.tid,
                                .since_ns = thread.since_ns,
                                .censored = (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0,
                                .wait = std::make_shared<const ExaminedWait>(wait)});
    }
    std::ranges::sort(window->blocks, {}, &ExaminedBlock::tid);
    log_.take_examined(std::move(window));
  }
  static ExaminedWait wait(WaitFor wait_for, bool certain = true) {
    return {.wait_for = wait_for, .site = "site", .certain = certain, .user = {"f"}, .kernel = {}};
  }
  // Threads from 1,000 on with blocks of this kind.
  std::pair<std::vector<offcpud_thread>, ExaminedThreads> as_many_as_are_told(
      const ExaminedWait& wait) {
    std::vector<offcpud_thread> threads;
    ExaminedThreads blocks;
    for (std::uint32_t tid = 1'000; tid < 1'000 + StallLog::kMaxInProgress; ++tid) {
      threads.push_back(blocked(tid, 20s));
      blocks.emplace_back(threads.back(), wait);
    }
    return {threads, blocks};
  }
  std::uint64_t untold(WaitFor wait_for) const {
    return log_.list()->untold_blocks[static_cast<std::size_t>(wait_for)];
  }
};

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

// Nobody is told before the stack was looked at, unless that takes too long.
TEST_F(ExaminedStallsTest, WaitsForTheStackButNotForEver) {
  const offcpud_thread lock = blocked(110, 60s, OFFCPUD_BLOCKED_LOCK);
  const offcpud_thread poll = blocked(111, 60s, OFFCPUD_BLOCKED_POLL);
  walk({lock, poll});
  EXPECT_TRUE(stalls().empty()) << "nothing has been examined yet";
  clock_.advance(StallLog::kExaminedWithin - 1s);
  walk({lock, poll});
  EXPECT_TRUE(stalls().empty());
  clock_.advance(1s);
  walk({lock, poll});
  ASSERT_EQ(stalls().size(), 1U) << "its reason decides, as without stacks";
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_FALSE(stalls()[0]->wait);
  // Examined at last, it turns out to be idle.
  examined({{lock, wait(WaitFor::Work)}});
  pass();
  EXPECT_TRUE(stalls().empty());
}

TEST_F(ExaminedStallsTest, AnEndBetweenTwoWalksWaitsForItsStack) {
  walk({});
  clock_.advance(60s);
  const offcpud_thread lock = blocked(110, 15s, OFFCPUD_BLOCKED_POLL);
  const offcpud_thread idle = blocked(111, 15s);
  offcpud_thread lost = blocked(112, 15s);
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

// Idle threads of Go, while a busy host leaves no time to examine stacks.
TEST_F(ExaminedStallsTest, AReasonInWhichTheProcessWasIdleDoesNotDecide) {
  const offcpud_thread idle = blocked(110, 20s), pipe = blocked(111, 20s, OFFCPUD_BLOCKED_PIPE);
  examined({{idle, wait(WaitFor::Work)}});
  walk({idle, pipe});
  clock_.advance(60s);
  const offcpud_thread again = blocked(112, 50s);
  offcpud_thread other = blocked(113, 50s);
  other.tgid = 300;
  walk({again, pipe, other});
  ASSERT_EQ(stalls().size(), 2U);
  EXPECT_EQ(stalls()[0]->tid, 111U) << "nothing is known of its pipes";
  EXPECT_EQ(stalls()[1]->tid, 113U) << "nor of the other process";
  EXPECT_EQ(untold(WaitFor::Unknown), 1U);
  // Its stack says more than its past does.
  examined({{again, wait(WaitFor::Lock)}});
  pass();
  ASSERT_EQ(stalls().size(), 3U);
  clock_.advance(40s);
  const offcpud_thread third = blocked(114, 40s);
  walk({third}, {end_of(again, clock_.now())});
  const auto all = stalls();
  EXPECT_TRUE(std::ranges::any_of(all, [](const auto& stall) { return stall->tid == 114; }))
      << "the last one that was examined was stuck";
}

// Idle threads of Go, when the daemon starts on a busy host.
TEST_F(ExaminedStallsTest, AnEndBeforeTheFirstLookAtLastingBlocksIsNotTold) {
  walk({});
  const offcpud_thread before = blocked(110, 15s), after = blocked(111, 15s);
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

TEST_F(ExaminedStallsTest, ARuleThatAsksForAnIdleReasonHolds) {
  offcpud_thread asked = blocked(110, 20s, OFFCPUD_BLOCKED_SLEEP);
  name(asked, "asked");
  const offcpud_thread other = blocked(111, 20s, OFFCPUD_BLOCKED_SLEEP);
  examined({{asked, wait(WaitFor::Timer)}, {other, wait(WaitFor::Timer)}});
  walk({asked, other});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->tid, 110U);
  EXPECT_EQ(untold(WaitFor::Timer), 1U);
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

TEST_F(ExaminedStallsTest, WithoutStacksReasonsDecide) {
  log_.set_policy(policy());
  const offcpud_thread lock = blocked(110, 20s);
  examined({{lock, wait(WaitFor::Work)}});
  walk({lock});
  EXPECT_EQ(stalls().size(), 1U);
  EXPECT_FALSE(log_.list()->examines);
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

// snapshots.reasons leaves some out: no sample of them ever comes.
TEST_F(ExaminedStallsTest, AReasonThatIsNotExaminedDecidesAtOnce) {
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

TEST_F(ExaminedStallsTest, AReasonThatIsExaminedFromNowOnGetsItsTime) {
  StallPolicy only_poll = policy();
  only_poll.examined_kinds = 1U << OFFCPUD_BLOCKED_POLL;
  log_.set_policy(only_poll);
  walk({});
  clock_.advance(2 * StallLog::kExaminedWithin);
  log_.set_policy(examining_policy());
  walk({blocked(110, 60s)});
  EXPECT_TRUE(stalls().empty());
}

TEST_F(ExaminedStallsTest, WhatIsTakenBackEndsInTheLogToo) {
  walk({});
  clock_.advance(StallLog::kExaminedWithin);
  const offcpud_thread lock = blocked(110, 60s);
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

TEST_F(ExaminedStallsTest, NobodyHearsOfWhatIsTakenBackBeforeItIsTold) {
  const offcpud_thread unknown = blocked(110, 20s);
  examined({{unknown, wait(WaitFor::Unknown, false)}});
  walk({unknown});
  EXPECT_TRUE(log_.take_changes().begun.empty());
  examined({{unknown, wait(WaitFor::Work)}});
  walk({unknown});
  EXPECT_TRUE(log_.take_changes().ended.empty());
}

// The walk read the thread before its end, and became complete after it.
TEST_F(ExaminedStallsTest, AnEndThatWaitsForItsStackIsToldOnce) {
  walk({});
  const offcpud_thread lock = blocked(110, 15s);
  clock_.advance(StallLog::kExaminedWithin);
  walk({lock}, {end_of(lock, clock_.now())});
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
