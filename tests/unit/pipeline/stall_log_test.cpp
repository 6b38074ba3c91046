// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_log.h"

#include "unit/pipeline/stall_log_fixture.h"

namespace offcpud::test {
namespace {

TEST_F(StallLogTest, NothingStallsBeforeTheFirstWalk) {
  log_.update(nullptr, {}, clock_.now(), clock_.wall());
  EXPECT_TRUE(stalls().empty());
}

TEST_F(StallLogTest, ABlockBecomesAStallAtItsThreshold) {
  const offcpud_thread thread = blocked(110, 10s - 1ns);
  walk({thread});
  EXPECT_TRUE(stalls().empty());
  clock_.advance(1ns);
  walk({blocked(110, 10s)});
  ASSERT_EQ(stalls().size(), 1U);
  const std::shared_ptr<const Stall> found = stalls()[0];
  const Stall& stall = *found;
  EXPECT_EQ(stall.tid, 110U);
  EXPECT_EQ(stall.local_tgid, 100U);
  EXPECT_EQ(stall.comm, "worker");
  EXPECT_EQ(stall.process_comm, "server");
  EXPECT_EQ(stall.labels->cgroup, "/a");
  EXPECT_EQ(stall.kind, OFFCPUD_BLOCKED_LOCK);
  EXPECT_EQ(stall.since, clock_.wall() - 10s);
  EXPECT_EQ(stall.duration_ns, 10 * kSecond);
  EXPECT_FALSE(stall.ended);
  EXPECT_FALSE(stall.estimated);
  EXPECT_FALSE(stall.detail);
}

TEST_F(StallLogTest, SomeBlocksNeverAre) {
  offcpud_thread idle = blocked(110, 100s, OFFCPUD_BLOCKED_KERNEL);
  idle.flags = OFFCPUD_THREAD_KERNEL | OFFCPUD_THREAD_IDLE;
  offcpud_thread unknown = blocked(111, 100s);
  unknown.flags = OFFCPUD_THREAD_UNKNOWN;
  unknown.since_ns = 0;
  offcpud_thread queued = blocked(112, 100s);
  queued.state = OFFCPUD_THREAD_RUNNABLE;
  queued.kind = OFFCPUD_RUNQ_WAKEUP;
  offcpud_thread ended = blocked(113, 100s);
  ended.state = OFFCPUD_THREAD_ENDED;
  offcpud_thread patient = blocked(114, 100s);
  name(patient, "patient");
  walk({idle, unknown, queued, ended, patient, blocked(115, 100s, OFFCPUD_BLOCKED_POLL),
        blocked(116, 100s, OFFCPUD_HIST_KINDS + 40)});
  EXPECT_TRUE(stalls().empty());
  walk({blocked(117, 100s, OFFCPUD_BLOCKED_STOPPED)});
  EXPECT_EQ(stalls().size(), 1U);
}

TEST_F(StallLogTest, TheThresholdIsThatOfItsFacts) {
  labels_->cgroup = "/slow";
  walk({blocked(110, 59s)});
  EXPECT_TRUE(stalls().empty());
  walk({blocked(110, 60s)});
  EXPECT_EQ(stalls().size(), 1U);
}

TEST_F(StallLogTest, ItsAgeGrowsWithEveryPass) {
  const offcpud_thread thread = blocked(110, 20s);
  walk({thread});
  clock_.advance(3s);
  pass();  // the walk is the same
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->duration_ns, 23 * kSecond);
}

TEST_F(StallLogTest, ItsEndIsThatOfTheEvent) {
  const offcpud_thread thread = blocked(110, 20s);
  walk({thread});
  const MonotonicTime woken = clock_.now() + 1500ms;
  clock_.advance(5s);
  pass({end_of(thread, woken)});
  ASSERT_EQ(stalls().size(), 1U);
  const std::shared_ptr<const Stall> found = stalls()[0];
  const Stall& stall = *found;
  EXPECT_TRUE(stall.ended);
  EXPECT_EQ(stall.duration_ns, 21'500'000'000U);
  EXPECT_EQ(stall.ended_at, clock_.wall() - 3500ms);
  EXPECT_EQ(stall.woken_from, OFFCPUD_FROM_OTHER_CGROUP);
  EXPECT_EQ(stall.waker_tid, 200U);
  EXPECT_EQ(stall.waker_comm, "waker");
}

// A walk takes its time: it may have met the thread before the end and be complete after it.
TEST_F(StallLogTest, AWalkThatLagsBehindDoesNotBringItBack) {
  const offcpud_thread thread = blocked(110, 20s);
  walk({thread});
  pass({end_of(thread, clock_.now())});
  walk({thread});
  walk({thread}, {end_of(thread, clock_.now())});  // nor does an event that comes twice
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_TRUE(stalls()[0]->ended);
}

TEST_F(StallLogTest, TheNextBlockOfAThreadIsAnotherStall) {
  const offcpud_thread first = blocked(110, 20s);
  walk({first});
  clock_.advance(30s);
  walk({blocked(110, 15s)}, {end_of(first, clock_.now() - 16s)});
  ASSERT_EQ(stalls().size(), 2U);
  EXPECT_FALSE(stalls()[0]->ended);
  EXPECT_EQ(stalls()[0]->duration_ns, 15 * kSecond);
  EXPECT_TRUE(stalls()[1]->ended);
}

TEST_F(StallLogTest, WithoutAnEventItIsGivenUpAfterTwoWalks) {
  walk({blocked(110, 20s)});
  clock_.advance(10s);
  walk({});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_FALSE(stalls()[0]->ended);
  EXPECT_EQ(stalls()[0]->duration_ns, 20 * kSecond) << "it may have ended just after that walk";
  pass();  // no new walk: nothing is known
  EXPECT_FALSE(stalls()[0]->ended);
  walk({});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_TRUE(stalls()[0]->ended);
  EXPECT_FALSE(stalls()[0]->ended_at);
  EXPECT_FALSE(stalls()[0]->woken_from);
  EXPECT_EQ(stalls()[0]->duration_ns, 20 * kSecond);
}

TEST_F(StallLogTest, OneWalkThatMissesItIsForgiven) {
  const offcpud_thread thread = blocked(110, 20s);
  walk({thread});
  walk({});
  walk({thread});
  walk({});
  EXPECT_FALSE(stalls()[0]->ended);
}

TEST_F(StallLogTest, ABlockBetweenTwoWalksIsRecordedWhenItIsOver) {
  walk({running(110, "worker")});
  clock_.advance(30s);
  const offcpud_thread thread = blocked(110, 15s);
  pass({end_of(thread, clock_.now()), end_of(blocked(111, 9s), clock_.now())});
  ASSERT_EQ(stalls().size(), 1U);
  const std::shared_ptr<const Stall> found = stalls()[0];
  const Stall& stall = *found;
  EXPECT_TRUE(stall.ended);
  EXPECT_EQ(stall.tid, 110U);
  EXPECT_EQ(stall.local_tid, 110U);
  EXPECT_EQ(stall.process_comm, "server");
  EXPECT_EQ(stall.duration_ns, 15 * kSecond);
  EXPECT_FALSE(stall.detail);
  const StallChanges changes = log_.take_changes();
  EXPECT_EQ(changes.begun, changes.ended);
}

TEST_F(StallLogTest, TheRulesHoldForBlocksBetweenWalksToo) {
  walk({});
  offcpud_thread patient = blocked(110, 100s);
  name(patient, "patient");
  offcpud_stall_end backwards = end_of(blocked(113, 20s), clock_.now() - 30s);
  pass({end_of(patient, clock_.now()),
        end_of(blocked(111, 100s, OFFCPUD_BLOCKED_SLEEP), clock_.now()), backwards});
  EXPECT_TRUE(stalls().empty());
}

// In a PID namespace of its own the daemon cannot know the local id of a thread it never saw.
TEST_F(StallLogTest, AnUnknownLocalIdIsZero) {
  offcpud_thread other = running(300, "x");
  other.local_tid = 30;
  walk({other});
  pass({end_of(blocked(110, 15s), clock_.now())});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_EQ(stalls()[0]->local_tid, 0U);
}

TEST_F(StallLogTest, ABlockOlderThanTheDaemonSaysSo) {
  offcpud_thread thread = blocked(110, 30min);
  thread.flags = OFFCPUD_THREAD_ESTIMATED;
  walk({thread});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_TRUE(stalls()[0]->estimated);
}

TEST_F(StallLogTest, WantsToKnowMoreUntilItIsTold) {
  const offcpud_thread older = blocked(120, 30s);
  const offcpud_thread newer = blocked(110, 20s);
  walk({newer, older});
  const StallId first{120, older.since_ns};
  const StallId second{110, newer.since_ns};
  EXPECT_EQ(log_.wanted(), (std::vector<StallId>{first, second}));
  EXPECT_EQ(log_.list()->detail_pending, 2U);

  WaitDetail detail;
  detail.syscall = 202;
  log_.describe(first, detail);
  log_.describe({120, 1}, detail);  // another block of that thread
  EXPECT_EQ(log_.wanted(), std::vector<StallId>{second});
  EXPECT_EQ(stalls()[0]->detail->syscall, 202U);
  pass({end_of(older, clock_.now())});
  EXPECT_EQ(stalls()[1]->detail->syscall, 202U) << "an ended stall keeps what was found";
}

TEST_F(StallLogTest, ChangesAreToldOnceAndWithTheirDetail) {
  const offcpud_thread thread = blocked(110, 20s);
  walk({thread});
  log_.describe({110, thread.since_ns}, WaitDetail{});
  StallChanges changes = log_.take_changes();
  ASSERT_EQ(changes.begun.size(), 1U);
  EXPECT_TRUE(changes.begun[0]->detail);
  EXPECT_TRUE(changes.ended.empty());
  EXPECT_TRUE(log_.take_changes().begun.empty());
  pass({end_of(thread, clock_.now())});
  changes = log_.take_changes();
  EXPECT_TRUE(changes.begun.empty());
  EXPECT_EQ(changes.ended.size(), 1U);
}

TEST_F(StallLogTest, InProgressTheOldestFirstThenEndedTheLatestFirst) {
  const offcpud_thread a = blocked(110, 20s);
  const offcpud_thread b = blocked(111, 30s);
  const offcpud_thread c = blocked(112, 40s);
  const offcpud_thread d = blocked(113, 50s);
  walk({a, b, c, d});
  pass({end_of(a, clock_.now())});
  pass({end_of(d, clock_.now())});
  std::vector<std::uint32_t> order;
  for (const auto& stall : stalls()) order.push_back(stall->tid);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{112, 111, 113, 110}));
}

TEST_F(StallLogTest, KeepsTheLatestEndedAndCountsTheRest) {
  for (std::uint32_t tid = 110; tid < 115; ++tid) {
    pass({end_of(blocked(tid, 20s), clock_.now())});
  }
  EXPECT_EQ(stalls().size(), 3U);
  EXPECT_EQ(stalls()[0]->tid, 114U);
  EXPECT_EQ(log_.list()->dropped, 2U);
  log_.set_keep(0);
  EXPECT_TRUE(stalls().empty());
  EXPECT_EQ(log_.list()->dropped, 5U);
  pass({end_of(blocked(120, 20s), clock_.now())});
  EXPECT_TRUE(stalls().empty());
  EXPECT_EQ(log_.take_changes().ended.size(), 6U) << "what is not kept is told all the same";
}

TEST_F(StallLogTest, StallsInProgressAreBounded) {
  std::vector<offcpud_thread> threads;
  for (std::uint32_t tid = 1'000; tid < 1'000 + StallLog::kMaxInProgress + 5; ++tid) {
    threads.push_back(blocked(tid, 20s));
  }
  walk(threads);
  EXPECT_EQ(stalls().size(), StallLog::kMaxInProgress);
  EXPECT_EQ(log_.list()->beyond_limit(), 5U);
  walk(threads);
  EXPECT_EQ(log_.list()->beyond_limit(), 5U);
  walk({});
  EXPECT_EQ(log_.list()->beyond_limit(), 0U);
}

TEST_F(StallLogTest, ANewPolicyLeavesOpenRecordsOpen) {
  const offcpud_thread thread = blocked(110, 20s);
  walk({thread});
  StallPolicy never;
  never.thresholds = [](const BlockFacts&) { return StallThresholds{}; };
  log_.set_policy(never);
  walk({thread, blocked(111, 20s)});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_FALSE(stalls()[0]->ended);
}

TEST_F(StallLogTest, NamesAreText) {
  offcpud_thread thread = blocked(110, 20s);
  std::memset(thread.comm, 0xff, sizeof(thread.comm));  // nor does it end
  walk({thread});
  ASSERT_EQ(stalls().size(), 1U);
  std::string replaced;
  for (int i = 0; i < OFFCPUD_COMM; ++i) replaced += "\uFFFD";
  EXPECT_EQ(stalls()[0]->comm, replaced);
}

}  // namespace
}  // namespace offcpud::test
