// SPDX-License-Identifier: Apache-2.0
#include "sampler/block_accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/rules_of.h"
#include "unit/sampler/block_accounting_fixture.h"

namespace offcpud::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// What is examined of the same blocks: each counts once, whole, when it ends, whatever snapshots
// and profiles do meanwhile; while it lasts each window has it.
TEST_F(BlockAccountingTest, WindowsOfExaminedWaitsFollowOneAnother) {
  std::mutex mutex;
  std::vector<std::shared_ptr<const WaitWindow>> windows;
  reports_.examined = [&](std::shared_ptr<const WaitWindow> window) {
    const std::lock_guard lock(mutex);
    windows.push_back(std::move(window));
  };
  options_.interval = 60s;
  start();
  kernel_.block(kSelf);
  kernel_.block(kOtherProcess);
  profile(5s, only_pid(kSelf));
  kernel_.lost = {.ns = 700, .whole_ns = 900};
  run(21s);
  settle();  // no more than two windows may wait
  kernel_.wake(kOtherProcess);
  kernel_.sample(3, 4us);
  run(10s);
  settle();
  ASSERT_THAT(windows, SizeIs(3));
  EXPECT_THAT(windows[0]->ended, IsEmpty());
  EXPECT_THAT(windows[0]->blocks, SizeIs(2));
  EXPECT_THAT(windows[1]->ended, IsEmpty());
  EXPECT_THAT(windows[1]->blocks, SizeIs(2)) << "its stack was told before";
  EXPECT_EQ(windows[1]->unexamined, 0U);
  EXPECT_EQ(windows[0]->lost_ns, 900U) << "as the others count, whole";
  EXPECT_EQ(windows[0]->lost_within_ns, 700U) << "as means within it need it";
  EXPECT_EQ(windows[1]->lost_ns, 0U);
  EXPECT_EQ(windows[1]->lost_within_ns, 0U);
  double sum_ns = 0, waits = 0;
  for (const EndedWaits& each : windows[2]->ended) {
    EXPECT_EQ(each.wait_for, WaitFor::Unknown);
    sum_ns += each.waits.sum_ns;
    for (const WaitEstimate::Slot& slot : each.waits.slots) waits += slot.waits;
  }
  EXPECT_EQ(sum_ns, 21e9 + 3 * 4e3);
  EXPECT_EQ(waits, 1 + 3 * 4);
  EXPECT_THAT(windows[2]->blocks, SizeIs(2)) << "one lasts, one was long";
  EXPECT_TRUE(snapshots_.snapshots.empty());
  EXPECT_THAT(profiles_.snapshots, SizeIs(1));
}

TEST_F(BlockAccountingTest, SnapshotsFollowOneAnotherWithoutAGap) {
  start();
  const WallTime began = clock_.wall();
  run(35s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(3));
  WallTime end = began;
  for (const Snapshot& snapshot : snapshots_.snapshots) {
    EXPECT_EQ(snapshot.begin, end);
    EXPECT_EQ(snapshot.duration, 10s);
    EXPECT_FALSE(snapshot.partial);
    end = snapshot.end;
  }
  EXPECT_EQ(end, began + 30s);
}

TEST_F(BlockAccountingTest, ALateTickMakesTheSnapshotLonger) {
  start();
  run(9900ms);
  clock_.advance(700ms);
  accounting_->tick();
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 10600ms);
}

TEST_F(BlockAccountingTest, ABlockThatSpansSnapshotsIsAccountedOnce) {
  start();
  run(3s);
  kernel_.block(kOtherProcess);
  run(25s);
  kernel_.wake(kOtherProcess);
  run(12s);
  settle();
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(7s, 10s, 8s, 0s));
  EXPECT_EQ(snapshots_.snapshots.at(2).entries.at(0).cgroup, "/other");
  EXPECT_TRUE(snapshots_.snapshots.at(1).entries.at(0).in_progress);
  EXPECT_EQ(episodes_in(snapshots_.snapshots.at(1)), 0);
  EXPECT_FALSE(snapshots_.snapshots.at(2).entries.at(0).in_progress);
  EXPECT_EQ(episodes_in(snapshots_.snapshots.at(2)), 1);
}

TEST_F(BlockAccountingTest, NewRulesHoldFromTheNextSnapshotOn) {
  const auto put_in_force = [this](const std::string& rule) {
    sites_->publish(test::rules_of("sites: [{" + rule + ", reason: '" + kAllReasons + "'}]"));
  };
  start();
  kernel_.block(kOtherProcess);
  run(10s);
  settle();
  put_in_force("name: one, for: lock");
  run(10s);
  settle();
  put_in_force("name: two, for: answer");
  run(10s);
  settle();
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(10s, 10s, 10s));  // nothing is lost
  std::vector<std::string> sites;
  for (const Snapshot& snapshot : snapshots_.snapshots) {
    ASSERT_THAT(snapshot.entries, SizeIs(1));
    sites.push_back(snapshot.entries[0].site);
  }
  EXPECT_THAT(sites, ElementsAre("", "one", "two"));
  EXPECT_EQ(snapshots_.snapshots[2].entries[0].wait_for, WaitFor::Answer);
}

TEST_F(BlockAccountingTest, AProfileTakesItsOwnBesideASnapshot) {
  start();
  EXPECT_EQ(accounting_->tick_interval(), 250ms);
  kernel_.block(kSelf);
  kernel_.block(kOtherProcess);
  run(3s);
  profile(2s, only_pid(kSelf));
  EXPECT_EQ(accounting_->tick_interval(), 50ms);
  run(3s);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(1));
  EXPECT_EQ(profiles_.snapshots[0].duration, 2s);
  EXPECT_FALSE(profiles_.snapshots[0].partial);
  EXPECT_THAT(profiles_.snapshots[0].entries, SizeIs(1));
  EXPECT_EQ(time_in(profiles_.snapshots[0]), 2s);  // without what was before it
  EXPECT_EQ(accounting_->tick_interval(), 250ms);
  EXPECT_THAT(snapshots_.snapshots, IsEmpty());
  run(4s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 10s);
  EXPECT_EQ(time_in(snapshots_.snapshots[0]), 10s + 10s);
}

TEST_F(BlockAccountingTest, ManyProfilesAtATimeAreRefusedAndSoAreThoseOfNobody) {
  start();
  profile(1s, only_pid(0));
  EXPECT_THAT(profiles_.errors, ElementsAre(HasSubstr("there is no process 0")));
  for (std::size_t i = 0; i < SampleWindows::kMost; ++i) profile(1s, {});
  EXPECT_THAT(profiles_.errors, SizeIs(2));
  EXPECT_THAT(profiles_.errors.back(), HasSubstr("too many profiles"));
  run(1s);
  settle();
  EXPECT_THAT(profiles_.snapshots, SizeIs(SampleWindows::kMost - 1));
}

// The profile is the last that could hold the block; the snapshot holds it when it has ended.
TEST_F(BlockAccountingTest, AYoungBlockIsInTheProfileThatEndsAndOnceInTheSnapshot) {
  start();
  profile(1s, {});
  run(900ms);
  kernel_.block(kOtherProcess);
  run(100ms);
  run(50ms);
  kernel_.wake(kOtherProcess);
  run(9s);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(1));
  EXPECT_EQ(time_in(profiles_.snapshots[0]), 100ms);
  EXPECT_EQ(episodes_in(profiles_.snapshots[0]), 0);
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(150ms));
  EXPECT_EQ(episodes_in(snapshots_.snapshots[0]), 1);
}

TEST_F(BlockAccountingTest, AYoungBlockThatEndsWhileTheProfileDoesIsInItOnce) {
  start();
  profile(1s, {});
  run(900ms);
  kernel_.block(kOtherProcess);
  kernel_.after_walk = [this] { kernel_.wake(kOtherProcess); };
  run(100ms);
  run(9s);
  settle();
  EXPECT_THAT(times(profiles_.snapshots), ElementsAre(100ms));
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(100ms));
}

TEST_F(BlockAccountingTest, LostTimeIsInWhatWantsEverythingAndNotedElsewhere) {
  start();
  profile(1s, {});
  profile(1s, only_pid(kSelf));
  kernel_.lost = {.ns = 700, .whole_ns = 900};
  run(10s);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(2));
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  for (const Snapshot* all : {&snapshots_.snapshots[0], &profiles_.snapshots[0]}) {
    EXPECT_EQ(time_in(*all), 700ns);
    EXPECT_EQ(all->lost_of_any_ns, 0U);
  }
  EXPECT_EQ(time_in(profiles_.snapshots[1]), 0ns);
  EXPECT_EQ(profiles_.snapshots[1].lost_of_any_ns, 700U);
}

TEST_F(BlockAccountingTest, NamingThatHangsIsGivenUpAndTold) {
  options_.interval = 1s;
  start();
  std::promise<void> answers;
  symbols_.post(
      [answer = answers.get_future().share()](SymbolCache& /*objects*/) { answer.wait(); });
  run(12s);
  EXPECT_THAT(snapshots_.errors, SizeIs(12 - NamingQueue::kMost));
  EXPECT_THAT(snapshots_.errors, Each(HasSubstr("take too long")));
  profile(500ms, {});
  run(500ms);
  EXPECT_THAT(profiles_.errors, SizeIs(1));
  answers.set_value();
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(NamingQueue::kMost));
  run(1s);
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(NamingQueue::kMost + 1));
}

// The window of waits goes on and is tried once a length. It takes no room from snapshots.
TEST_F(BlockAccountingTest, WaitsAreNotWalkedForInEachTickWhileNamingHangs) {
  std::vector<std::shared_ptr<const WaitWindow>> windows;
  reports_.examined = [&](std::shared_ptr<const WaitWindow> window) {
    windows.push_back(std::move(window));
  };
  options_.interval = 60s;
  start();
  std::promise<void> answers;
  symbols_.post(
      [answer = answers.get_future().share()](SymbolCache& /*objects*/) { answer.wait(); });
  run(20s);
  EXPECT_TRUE(naming_.is_full_of_waits());
  const int walks = kernel_.walks;
  run(35s);
  EXPECT_EQ(kernel_.walks - walks, 3);
  run(60s * NamingQueue::kMost - 55s);
  EXPECT_THAT(snapshots_.errors, IsEmpty());
  answers.set_value();
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(NamingQueue::kMost));
  EXPECT_THAT(windows, SizeIs(2));
  run(10s);
  settle();
  ASSERT_THAT(windows, SizeIs(3));
  EXPECT_EQ(windows[2]->begin - windows[1]->begin, 10s) << "nothing is missing between them";
}

TEST_F(BlockAccountingTest, StoppingEndsAllWindowsBeforeTheirTime) {
  start();
  kernel_.block(kOtherProcess);
  run(3s);
  profile(5s, {});
  run(1s);
  accounting_->stop();
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_TRUE(snapshots_.snapshots[0].partial);
  EXPECT_EQ(snapshots_.snapshots[0].duration, 4s);
  EXPECT_EQ(time_in(snapshots_.snapshots[0]), 4s);
  ASSERT_THAT(profiles_.snapshots, SizeIs(1));
  EXPECT_TRUE(profiles_.snapshots[0].partial);
  EXPECT_EQ(time_in(profiles_.snapshots[0]), 1s);

  accounting_->stop();
  accounting_->set_options(options_);
  accounting_->keep_time();
  run(20s);
  profile(1s, {});
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_THAT(profiles_.errors, ElementsAre("offcpud is stopping"));
  accounting_.reset();
  EXPECT_EQ(kernel_.choice->blocks, BlockFilter::none());
}

TEST_F(BlockAccountingTest, OtherRulesEndTheSnapshotThatIsOpen) {
  start();
  run(4s);
  CaptureRules rules;
  rules.blocks.min_ns = 5;
  rules.text = "long ones";
  options_.capture = std::make_shared<const CaptureRules>(rules);
  accounting_->set_options(options_);
  EXPECT_EQ(kernel_.choice->blocks.min_ns, 5U);
  run(10s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(2));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 4s);
  EXPECT_THAT(snapshots_.snapshots[0].captured, IsEmpty());
  EXPECT_EQ(snapshots_.snapshots[1].duration, 10s);
  EXPECT_THAT(snapshots_.snapshots[1].captured, ElementsAre("long ones"));
}

TEST_F(BlockAccountingTest, AnotherLengthHoldsForTheSnapshotThatIsOpen) {
  start();
  run(4s);
  options_.interval = 5s;
  accounting_->set_options(options_);
  run(6s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(2));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 5s);
  EXPECT_EQ(snapshots_.snapshots[1].duration, 5s);
}

// As where many programs start at once.
TEST_F(BlockAccountingTest, AWindowEndsWhileMappingsAreFollowedForLong) {
  start();
  run(9s);
  kernel_.block(kOtherProcess);
  addresses_.in_the_middle = [this] {
    clock_.advance(100ms);
    accounting_->keep_time();
  };
  for (int step = 0; step < 14; ++step) addresses_.follow();
  settle();
  EXPECT_THAT(snapshots_.snapshots, IsEmpty());  // 10.4 s
  kernel_.sample(1);
  addresses_.follow();
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 10500ms);
  EXPECT_EQ(time_in(snapshots_.snapshots[0]), 1500ms + 1us);
  EXPECT_EQ(located_early_, 1);
}

TEST_F(BlockAccountingTest, WhatTheKernelDoesNotGiveIsWarnedOf) {
  start();
  kernel_.failure = Error("no");
  kernel_.block(kOtherProcess);
  kernel_.sample(1);
  run(10s);
  settle();
  EXPECT_THAT(warned_, testing::Contains("samples"));
  EXPECT_THAT(warned_, testing::Contains("blocked"));
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(10s + 1us));
}

// Memory that cannot be read; knows what the sampler's thread said that it did meanwhile.
class WatchedMemory final : public ProcessMemory {
 public:
  explicit WatchedMemory(const Heartbeat& heartbeat) : heartbeat_(heartbeat) {}
  void read(std::span<MemoryPiece> /*pieces*/) override { seen = heartbeat_.state(); }
  ThreadState seen;

 private:
  const Heartbeat& heartbeat_;
};

TEST_F(BlockAccountingTest, WhoseMemoryIsReadForItsPythonIsSaid) {
  reports_.stacks = std::make_shared<Heartbeat>(clock_, "stacks", ThreadLimits());
  WatchedMemory memory(*reports_.stacks);
  PythonProcesses processes(nullptr, memory, clock_, [](const std::string&) {});
  PythonStacks python(addresses_, memory, processes);
  python_ = &python;
  const auto library = std::make_shared<MappedFile>();
  library->path = "/opt/lib/libpython3.12.so.1.0";
  addresses_.file = library;
  start();
  kernel_.kind = OFFCPUD_BLOCKED_CONDVAR;
  kernel_.sample(1);
  run(1s);
  EXPECT_EQ(memory.seen.work, "finding the Python of a program");
  EXPECT_EQ(memory.seen.subject, "process 1");
  EXPECT_NE(reports_.stacks->state().work, memory.seen.work);
  accounting_.reset();
}

}  // namespace
}  // namespace offcpud::test
