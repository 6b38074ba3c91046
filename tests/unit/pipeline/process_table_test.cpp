// SPDX-License-Identifier: Apache-2.0
#include "pipeline/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/thread_walks.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using test::kDisk;
using test::kKernel;
using test::kPoll;
using test::kPreempted;
using test::kSecond;
using test::kWakeup;
using test::labels;
using test::thread;
using test::ThreadRecord;
using test::waits;
using test::walk_at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProcessTableTest : public ::testing::Test {
 protected:
  // One pass, at the time of the walk.
  std::vector<ProcessRow> pass(double now_s, std::vector<ThreadRecord> threads) {
    return pass(walk_at(now_s, std::move(threads)));
  }
  std::vector<ProcessRow> pass(std::shared_ptr<const ThreadWalk> walk) {
    KernelReading sample;
    sample.walk = std::move(walk);
    for (const auto& [identity, histograms] : histograms_) {
      sample.processes.push_back({identity.start_ns, identity.tgid, histograms});
    }
    return table_.update(
        sample, [this](std::uint64_t id) { return labels_.at(id); }, {}, 100);
  }
  // What the process has waited since the programs know it.
  void counted(std::uint32_t tgid, offcpud_hist_kind kind, std::vector<double> seconds) {
    histograms_[{tgid, kSecond}][kind] = waits(std::move(seconds));
  }
  std::map<std::uint64_t, std::shared_ptr<const SubjectLabels>> labels_{{1, labels("/a.service")},
                                                                        {2, labels("/b.service")}};
  std::map<ProcessIdentity, KindHistograms> histograms_;
  ProcessTable table_{{}};
};

TEST_F(ProcessTableTest, GroupsThreadsByProcess) {
  const auto rows =
      pass(10, {thread(5).named("server"), thread(6).of(5).named("worker").running(9),
                thread(7).of(5).blocked(kDisk, 4), thread(8).named("other").running(9)});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].pid, 5U);
  EXPECT_EQ(rows[0].comm, "server");
  EXPECT_EQ(rows[0].threads, 2U);  // the first one has ended
  EXPECT_EQ(rows[0].start_ns, kSecond);
  EXPECT_EQ(rows[0].labels->cgroup, "/a.service");
  EXPECT_EQ(rows[0].oldest_blocked[kDisk].ns, 6 * kSecond);
  EXPECT_EQ(rows[1].comm, "other");
}

TEST_F(ProcessTableTest, WithoutAnIntervalNobodyWaited) {
  counted(5, kDisk, {3600});
  const auto rows = pass(5000, {thread(5).blocked(kDisk, 1000).waited(kDisk, 3600).ran(99)});
  EXPECT_EQ(rows[0].actionable_ns, 0U);
  EXPECT_EQ(rows[0].running_ns, 0U);
  EXPECT_EQ(rows[0].ended, 0U);
  EXPECT_EQ(rows[0].oldest_blocked[kDisk].ns, 4000 * kSecond);
}

TEST_F(ProcessTableTest, SumsTheIntervalOverThreadsAndSeparatesIdleWaits) {
  pass(10, {thread(5).blocked(kPoll, 2), thread(6).of(5).blocked(kDisk, 9)});
  const auto rows = pass(20, {thread(5).blocked(kPoll, 2), thread(6).of(5).blocked(kDisk, 9),
                              thread(7).of(5).runnable(kPreempted, 16).ran(2)});
  EXPECT_EQ(rows[0].waited_ns[kPoll], 10 * kSecond);
  EXPECT_EQ(rows[0].waited_ns[kDisk], 10 * kSecond);
  EXPECT_EQ(rows[0].waited_ns[kPreempted], 4 * kSecond);
  EXPECT_EQ(rows[0].actionable_ns, 14 * kSecond);
  EXPECT_EQ(rows[0].running_ns, 2 * kSecond);
}

TEST_F(ProcessTableTest, PercentilesAreOfActionableWaitsThatEndedInTheInterval) {
  counted(5, kDisk, {100});
  counted(5, kPoll, {});
  pass(10, {thread(5).running(9).waited(kDisk, 100)});
  counted(5, kDisk, {100, 0.5, 0.5, 2});
  counted(5, kPoll, {7});
  counted(5, kWakeup, {0.5});
  const auto rows =
      pass(20, {thread(5).running(9).waited(kDisk, 103).waited(kPoll, 7).waited(kWakeup, 0.5)});
  EXPECT_EQ(rows[0].ended, 4U);
  EXPECT_EQ(rows[0].p50_seconds, 0.5);
  EXPECT_EQ(rows[0].p99_seconds, 2);
  EXPECT_EQ(rows[0].max_seconds, 2);
  EXPECT_EQ(rows[0].actionable_ns, 3'500'000'000U);
}

TEST_F(ProcessTableTest, TheSameWalkKeepsTheIntervalAndRenewsHistograms) {
  pass(10, {thread(5).blocked(kDisk, 9)});
  const auto walk = walk_at(20, {thread(5).blocked(kDisk, 9)});
  pass(walk);
  counted(5, kDisk, {15});
  const auto again = pass(walk);
  EXPECT_EQ(again[0].waited_ns[kDisk], 10 * kSecond);
  EXPECT_EQ(again[0].ended, 0U);
  EXPECT_EQ(again[0].histograms[kDisk]->count(), 1U);
  // The interval of the next walk begins with the walk, not with the last pass.
  const auto next = pass(30, {thread(5).running(24).waited(kDisk, 15)});
  EXPECT_EQ(next[0].ended, 1U);
  EXPECT_EQ(next[0].waited_ns[kDisk], 4 * kSecond);
}

TEST_F(ProcessTableTest, AReusedPidIsAnotherProcess) {
  counted(5, kDisk, {50});
  pass(100, {thread(5).named("old").blocked(kDisk, 1).waited(kDisk, 50)});
  histograms_.clear();
  histograms_[{5, 105 * kSecond}][kDisk] = waits({2});
  const auto rows =
      pass(110, {thread(5).started(105).named("new").blocked(kDisk, 109).waited(kDisk, 2)});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].comm, "new");
  EXPECT_EQ(rows[0].start_ns, 105 * kSecond);
  EXPECT_EQ(rows[0].waited_ns[kDisk], 3 * kSecond);
  EXPECT_EQ(rows[0].ended, 1U);
  EXPECT_EQ(rows[0].histograms[kDisk]->count(), 1U);
}

TEST_F(ProcessTableTest, AReusedPidDoesNotMergeThreadsOfBoth) {
  const auto rows = pass(
      100, {thread(5).started(90).running(99), thread(6).of(5).started(3, 2).blocked(kDisk, 99)});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].threads, 1U);
  EXPECT_EQ(rows[1].threads, 1U);
}

TEST_F(ProcessTableTest, ExecAndANewNameStayTheSameProcess) {
  counted(5, kDisk, {4});
  pass(10, {thread(5).named("bash").running(9).waited(kDisk, 4)});
  counted(5, kDisk, {4, 1});
  const auto rows = pass(20, {thread(5).named("server").in_cgroup(2).running(9).waited(kDisk, 5)});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].comm, "server");
  EXPECT_EQ(rows[0].labels->cgroup, "/b.service");
  EXPECT_EQ(rows[0].ended, 1U);
  EXPECT_EQ(rows[0].waited_ns[kDisk], 1 * kSecond);
  EXPECT_EQ(rows[0].histograms[kDisk]->count(), 2U);
}

TEST_F(ProcessTableTest, WithoutItsLeaderItKeepsTheName) {
  pass(10, {thread(5).named("server").running(9), thread(6).of(5).named("w").running(9)});
  const auto rows = pass(20, {thread(6).of(5).named("w").in_cgroup(2).running(9)});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].comm, "server");
  EXPECT_EQ(rows[0].labels->cgroup, "/a.service");
  EXPECT_EQ(rows[0].threads, 1U);

  ProcessTable fresh{{}};  // never saw the leader
  KernelReading sample;
  sample.walk = walk_at(20, {thread(6).of(5).named("w").in_cgroup(2).running(9)});
  const auto others = fresh.update(
      sample, [this](std::uint64_t id) { return labels_.at(id); }, {}, 100);
  EXPECT_EQ(others[0].comm, "w");
  EXPECT_EQ(others[0].labels->cgroup, "/b.service");
}

TEST_F(ProcessTableTest, AZombieLeaderStillNamesTheProcess) {
  const auto rows = pass(20, {thread(6).of(7).named("w").running(9), thread(7).named("server")});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].comm, "server");
  EXPECT_EQ(rows[0].threads, 1U);
}

TEST_F(ProcessTableTest, AZombieIsNoProcess) {
  pass(10, {thread(5).running(9)});
  EXPECT_THAT(pass(20, {thread(5).ended()}), IsEmpty());
}

TEST_F(ProcessTableTest, WaitsOfThreadsThatEndedComeFromTheProcess) {
  counted(5, kDisk, {1});
  pass(10, {thread(5).running(1), thread(6).of(5).blocked(kDisk, 4).waited(kDisk, 1)});
  // Thread 6 woke at 12 after 8 s and ended; 2 s of them lie within. A thread that no walk met
  // waited for another second.
  counted(5, kDisk, {1, 8, 1});
  const auto rows = pass(20, {thread(5).running(1)});
  EXPECT_EQ(rows[0].waited_ns[kDisk], 3 * kSecond);
  EXPECT_EQ(rows[0].running_ns, 10 * kSecond);
}

TEST_F(ProcessTableTest, AWaitThatEndedBehindTheWalkIsNotClaimedWhole) {
  pass(10, {thread(5).blocked(kDisk, 2)});
  pass(7200, {thread(5).blocked(kDisk, 2)});
  // The walk met it blocked; it woke before the histograms were read.
  counted(5, kDisk, {7208});
  const auto rows = pass(7210, {thread(5).blocked(kDisk, 2)});
  EXPECT_EQ(rows[0].waited_ns[kDisk], 20 * kSecond);
  const auto next = pass(7220, {thread(5).running(7210).waited(kDisk, 7208)});
  EXPECT_EQ(next[0].waited_ns[kDisk], 0U);
}

TEST_F(ProcessTableTest, AKernelThreadThatWaitsForWorkIsNotWaiting) {
  const auto worker = [] { return thread(5).flagged(OFFCPUD_THREAD_KERNEL); };
  const auto idle = [&](double since) {
    return worker().flagged(OFFCPUD_THREAD_KERNEL | OFFCPUD_THREAD_IDLE).blocked(kKernel, since);
  };
  pass(10, {idle(2)});
  auto rows = pass(20, {idle(2)});
  EXPECT_TRUE(rows[0].kernel_thread);
  EXPECT_EQ(rows[0].waited_ns[kKernel], 10 * kSecond);
  EXPECT_EQ(rows[0].actionable_ns, 0U);
  EXPECT_EQ(rows[0].oldest_blocked[kKernel].ns, 0U);

  // Its waits that ended were for work, too; the one it is in now is not.
  counted(5, kKernel, {20});
  counted(5, kWakeup, {1});
  rows = pass(30, {worker().blocked(kKernel, 27).waited(kKernel, 20).waited(kWakeup, 1)});
  EXPECT_EQ(rows[0].waited_ns[kKernel], 5 * kSecond);
  EXPECT_EQ(rows[0].actionable_ns, 4 * kSecond);
  EXPECT_EQ(rows[0].oldest_blocked[kKernel].ns, 3 * kSecond);
  EXPECT_EQ(rows[0].ended, 1U);
}

TEST_F(ProcessTableTest, RowsComeByActionableWait) {
  const auto threads = [] {
    return std::vector{thread(5).blocked(kPoll, 1), thread(6).blocked(kDisk, 1),
                       thread(7).running(1)};
  };
  pass(10, threads());
  const auto rows = pass(20, threads());
  EXPECT_THAT((std::vector{rows[0].pid, rows[1].pid, rows[2].pid}), ElementsAre(6U, 5U, 7U));
}

TEST_F(ProcessTableTest, NamesAreText) {
  const auto rows = pass(10, {thread(5).named("a\xff").running(9)});
  EXPECT_EQ(rows[0].comm, "a\xef\xbf\xbd");
}

TEST_F(ProcessTableTest, BeforeTheFirstWalkThereIsNobody) {
  counted(5, kDisk, {1});
  EXPECT_THAT(pass(nullptr), IsEmpty());
}

}  // namespace
}  // namespace offcpud
