// SPDX-License-Identifier: Apache-2.0
#include "stacks/sampled_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "snapshot/stack_id.h"
#include "stacks/kernel_frame.h"
#include "support/known_cgroups.h"
#include "support/sampled_blocks.h"

namespace offcpud {
namespace {

using test::BlockRecord;
using test::KnownCgroups;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Functions = std::vector<std::string>;

// Names a function by its address; of a waker with an apostrophe.
class AddressNames final : public FunctionNames {
 public:
  StackFrame name(const offcpud_sample& /*sample*/, const LocatedFrame& frame,
                  bool waker) override {
    StackFrame named;
    named.function = "f" + std::to_string(frame.address) + (waker ? "'" : "");
    named.object = object;
    named.build_id = frame.file_offset == 0 ? "" : std::to_string(frame.file_offset);
    return named;
  }
  std::string object = "program";
};

std::vector<LocatedFrame> located(std::span<const __u64> addresses) {
  std::vector<LocatedFrame> frames;
  for (const __u64 address : addresses) frames.emplace_back().address = address;
  return frames;
}

SampledInterval empty_interval(const KnownCgroups& cgroups = {}) {
  return {.cgroups = CgroupPaths(cgroups.directory())};
}

SampledInterval interval_of(const std::vector<BlockRecord>& records,
                            const KnownCgroups& cgroups = {}) {
  SampledInterval interval = empty_interval(cgroups);
  StackSums stacks(1000);
  for (const BlockRecord& record : records) {
    const SampledBlock block = record.block();
    BlockSum* const sum = stacks.add(block);
    if (sum == nullptr) continue;
    sum->user = located(block.user);
    sum->waker_user = located(block.waker_user);
  }
  interval.stacks = stacks.drain();
  return interval;
}

// What a block is for by the innermost function of its program.
class ClassesByLeaf final : public WaitClasses {
 public:
  void classify(const Snapshot& snapshot, StackEntry& entry, const BlockSum& /*sum*/,
                bool own_timer) override {
    own_timers.push_back(own_timer);
    if (entry.user.empty()) return;
    const std::string& leaf = snapshot.frames.at(entry.user.back()).function;
    entry.site = "site of " + leaf + " of " + entry.comm;
    entry.wait_for = leaf == "f1" ? WaitFor::Lock : WaitFor::Work;
  }
  void decide(Snapshot& snapshot) override {
    for (StackEntry& entry : snapshot.entries) {
      if (entry.wait_for == WaitFor::Lock && entry.comm == "decided") {
        entry.wait_for = WaitFor::Timer;
      }
    }
  }

  std::vector<bool> own_timers;  // of all entries
};

SampledSnapshot named(const SampledInterval& interval) {
  AddressNames names;
  ClassesByLeaf classes;
  return snapshot_of(interval, names, classes);
}

Functions functions(const Snapshot& snapshot, const std::vector<std::uint32_t>& frames) {
  Functions names;
  for (const std::uint32_t frame : frames) names.push_back(snapshot.frames.at(frame).function);
  return names;
}

// The only entry, and the functions of one of its stacks.
Functions only(const SampledSnapshot& made, std::vector<std::uint32_t> StackEntry::*stack) {
  EXPECT_THAT(made.snapshot.entries, SizeIs(1));
  return functions(made.snapshot, made.snapshot.entries.at(0).*stack);
}

// Whoever classifies sees the interpreter's own functions, people those of the program.
TEST(SampledSnapshot, InterpretedFunctionsAreShownInPlaceOfTheInterpreter) {
  const BlockRecord record = BlockRecord(5).in_user({1, 2, 3});
  auto interpreted = std::make_shared<InterpretedStack>();
  interpreted->id = 4;
  interpreted->frames = {{"pay (till.py)", 12, 0}, {"main (till.py)", 30, 1}};
  SampledInterval interval = empty_interval();
  StackSums stacks(1000);
  SampledBlock block = record.block();
  stacks.add(block)->user = located(block.user);
  block.interpreted = interpreted;
  BlockSum* const sum = stacks.add(block);
  ASSERT_NE(sum, nullptr) << "another stack, although its addresses are the same";
  sum->user = located(block.user);
  EXPECT_EQ(stacks.add(block), nullptr);
  interval.stacks = stacks.drain();
  const Snapshot snapshot = named(interval).snapshot;
  ASSERT_THAT(snapshot.entries, SizeIs(2));
  std::map<std::string, Functions> by_leaf;
  for (const StackEntry& entry : snapshot.entries) {
    EXPECT_EQ(entry.site, "site of f1 of process");
    EXPECT_EQ(entry.wait_for, WaitFor::Lock);
    const Functions all = functions(snapshot, entry.user);
    by_leaf[all.back()] = all;
  }
  EXPECT_THAT(by_leaf["f1"], ElementsAre("f3", "f2", "f1"));
  EXPECT_THAT(by_leaf["pay (till.py)"], ElementsAre("f3", "main (till.py)", "pay (till.py)"));
  for (const StackFrame& frame : snapshot.frames) {
    if (frame.function == "pay (till.py)") {
      EXPECT_EQ(frame.line, 12);
    }
  }
}

TEST(SampledSnapshot, PutsTheOutermostFrameFirst) {
  auto interval = interval_of({BlockRecord(5)
                                   .in_user({1, 2, 3})
                                   .in_kernel({10, 11, 12})
                                   .woken_by(OFFCPUD_FROM_OTHER_CGROUP, 7, "waker")
                                   .woken_in({20, 21}, {4, 5})});
  interval.kernel_names = {{10, kernel_frame("schedule+0x1/0x2")},
                           {11, kernel_frame("futex_wait+0x1/0x2")},
                           {12, kernel_frame("do_syscall_64+0x1/0x2")},
                           {20, kernel_frame("try_to_wake_up+0x1/0x2")},
                           {21, kernel_frame("futex_wake+0x1/0x2")}};
  const auto made = named(interval);
  EXPECT_THAT(only(made, &StackEntry::user), ElementsAre("f3", "f2", "f1"));
  EXPECT_THAT(only(made, &StackEntry::kernel), ElementsAre("do_syscall_64", "futex_wait"));
  EXPECT_THAT(only(made, &StackEntry::waker_user), ElementsAre("f5'", "f4'"));
  EXPECT_THAT(only(made, &StackEntry::waker_kernel), ElementsAre("futex_wake", "try_to_wake_up"));
}

TEST(SampledSnapshot, SaysWhatEachBlockIsFor) {
  auto interval = interval_of({BlockRecord(5).in_user({1, 2}).of_process_named("a").standing_for(7),
                               BlockRecord(5).in_user({2, 1}).of_process_named("b"),
                               BlockRecord(5).in_kernel({10}).of_process_named("kthread")});
  interval.stacks.overflow_ns = 40;
  interval.lost_ns = 50;
  const auto made = named(interval);
  ASSERT_THAT(made.snapshot.entries, SizeIs(5));
  std::map<std::string, std::pair<std::string, WaitFor>> classes;
  for (const StackEntry& entry : made.snapshot.entries) {
    classes[entry.comm] = {entry.site, entry.wait_for};
  }
  using Class = std::pair<std::string, WaitFor>;
  EXPECT_EQ(classes["a"], Class("site of f1 of a", WaitFor::Lock));
  EXPECT_EQ(classes["b"], Class("site of f2 of b", WaitFor::Work));
  EXPECT_EQ(classes["kthread"], Class("", WaitFor::Unknown));
  EXPECT_EQ(classes["offcpud"], Class("", WaitFor::Unknown)) << "time without a stack";
}

TEST(SampledSnapshot, DecidesOnceAllEntriesAreThere) {
  const auto made = named(interval_of({BlockRecord(5).in_user({1}).of_process_named("decided"),
                                       BlockRecord(5).in_user({1}).of_process_named("other")}));
  std::map<std::string, WaitFor> classes;
  for (const StackEntry& entry : made.snapshot.entries) classes[entry.comm] = entry.wait_for;
  EXPECT_EQ(classes["decided"], WaitFor::Timer);
  EXPECT_EQ(classes["other"], WaitFor::Lock);
}

TEST(SampledSnapshot, TellsWhatTheThreadsOwnTimerEnded) {
  auto interval =
      interval_of({BlockRecord(5).woken_by(OFFCPUD_FROM_INTERRUPT, 0, "").woken_in({20, 21, 22}),
                   BlockRecord(6).in_user({1}).woken_in({20, 21, 22})});  // by nobody that is known
  interval.kernel_names = {{20, kernel_frame("try_to_wake_up+0x1/0x2")},
                           {21, kernel_frame("hrtimer_wakeup+0x1/0x2")},
                           {22, kernel_frame("asm_sysvec_apic_timer_interrupt+0x1/0x2")}};
  AddressNames names;
  ClassesByLeaf classes;
  const auto made = snapshot_of(interval, names, classes);
  ASSERT_THAT(classes.own_timers, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(classes.own_timers[i], made.snapshot.entries[i].user.empty()) << i;
  }
}

TEST(SampledSnapshot, SaysWhoseTimeItIs) {
  BlockRecord record = BlockRecord(2).of(7).named("worker").of_process_named("server");
  record.sample.local_tgid = 8;
  record.sample.kind = OFFCPUD_BLOCKED_DISK;
  const auto made = named(interval_of({record.standing_for(1000), record}));
  const StackEntry& entry = made.snapshot.entries.at(0);
  EXPECT_EQ(entry.pid, 8U);
  EXPECT_EQ(entry.comm, "server");
  EXPECT_EQ(entry.thread_comm, "worker");
  EXPECT_EQ(entry.reason, std::size_t{OFFCPUD_BLOCKED_DISK});
  EXPECT_EQ(entry.ns, 2000U);
  EXPECT_DOUBLE_EQ(entry.episodes, 1000);
  EXPECT_FALSE(entry.in_progress);
}

TEST(SampledSnapshot, MarksBlocksThatLast) {
  const auto made = named(interval_of({BlockRecord(2).flagged(OFFCPUD_SAMPLE_IN_PROGRESS)}));
  EXPECT_TRUE(made.snapshot.entries.at(0).in_progress);
  EXPECT_EQ(made.snapshot.entries.at(0).episodes, 0);
}

TEST(SampledSnapshot, ReadsANameOfFullLength) {
  BlockRecord record(1);
  std::fill(std::begin(record.sample.comm), std::end(record.sample.comm), 'x');
  EXPECT_EQ(named(interval_of({record})).snapshot.entries.at(0).thread_comm,
            std::string(OFFCPUD_COMM, 'x'));
}

TEST(SampledSnapshot, CallsAnInterruptIrqAndCutsWhatItInterrupted) {
  auto interval = interval_of(
      {BlockRecord(5).woken_by(OFFCPUD_FROM_INTERRUPT, 7, "victim").woken_in({20, 21, 22})});
  interval.kernel_names = {{20, kernel_frame("hrtimer_wakeup+0x1/0x2")},
                           {21, kernel_frame("asm_sysvec_apic_timer_interrupt+0x1/0x2")},
                           {22, kernel_frame("md5_transform+0x1/0x2")}};
  const auto made = named(interval);
  EXPECT_EQ(made.snapshot.entries.at(0).waker_comm, "[irq]");
  EXPECT_EQ(made.snapshot.entries.at(0).waker_pid, 0U);
  EXPECT_THAT(only(made, &StackEntry::waker_kernel),
              ElementsAre("asm_sysvec_apic_timer_interrupt", "hrtimer_wakeup"));
}

TEST(SampledSnapshot, NamesNoWakerWhereNobodyIsKnown) {
  const auto made = named(interval_of({BlockRecord(5).woken_in({20}, {4})}));
  const StackEntry& entry = made.snapshot.entries.at(0);
  EXPECT_EQ(entry.waker_comm, "");
  EXPECT_THAT(entry.waker_kernel, IsEmpty());
  EXPECT_THAT(entry.waker_user, IsEmpty());
}

// Only ROOT says that a stack is whole, and a thread of the kernel has none to be walked.
TEST(SampledSnapshot, SaysAtTheRootWhyAStackIsIncomplete) {
  std::set<std::string> markers;
  for (int end = 0; end < OFFCPUD_UNWIND_ENDS; ++end) {
    const auto why = static_cast<offcpud_unwind_end>(end);
    const auto user =
        only(named(interval_of({BlockRecord(5).in_user({1}).ended_by(why)})), &StackEntry::user);
    if (why == OFFCPUD_UNWIND_END_ROOT || why == OFFCPUD_UNWIND_END_NO_USER) {
      EXPECT_THAT(user, ElementsAre("f1")) << end;
      continue;
    }
    ASSERT_THAT(user, SizeIs(2)) << end;
    EXPECT_TRUE(user[0].starts_with("[incomplete: ")) << user[0];
    EXPECT_TRUE(markers.insert(user[0]).second) << user[0];
    EXPECT_EQ(user[1], "f1");
  }
  EXPECT_THAT(markers, SizeIs(OFFCPUD_UNWIND_ENDS - 2));
}

TEST(SampledSnapshot, KeepsTheMarkerOfAStackWithoutAnyFrame) {
  EXPECT_THAT(only(named(interval_of({BlockRecord(5).ended_by(OFFCPUD_UNWIND_END_READ)})),
                   &StackEntry::user),
              ElementsAre("[incomplete: stack not readable]"));
}

TEST(SampledSnapshot, KeepsTimeWhoseStackIsNotKnown) {
  auto interval =
      interval_of({BlockRecord(5).in_user({1}).in_cgroup(9)}, KnownCgroups({{9, "nine"}}));
  interval.stacks.overflow_ns = 30;
  interval.lost_ns = 400;
  const auto made = named(interval);
  std::map<Functions, std::uint64_t> times;
  for (const StackEntry& entry : made.snapshot.entries) {
    times[functions(made.snapshot, entry.user)] += entry.ns;
  }
  EXPECT_EQ(times,
            (std::map<Functions, std::uint64_t>{{{"f1"}, 5},
                                                {{"[more different stacks than are kept]"}, 30},
                                                {{"[samples that found no room]"}, 400}}));
  std::vector<std::string> paths;
  for (const StackEntry& entry : made.snapshot.entries) paths.push_back(entry.cgroup);
  EXPECT_THAT(paths, ElementsAre("/nine", "(other)", "(other)"));
}

TEST(SampledSnapshot, HasACgroupForEveryEntry) {
  const KnownCgroups cgroups{{70, "a"}, {80, "b"}};
  const auto made = named(interval_of(
      {BlockRecord(1).in_cgroup(70), BlockRecord(2).in_cgroup(80), BlockRecord(3).in_cgroup(90)},
      cgroups));
  std::map<std::string, std::uint64_t> times;
  for (const StackEntry& entry : made.snapshot.entries) times[entry.cgroup] += entry.ns;
  EXPECT_EQ(times, (std::map<std::string, std::uint64_t>{{"/a", 1}, {"/b", 2}, {"(unknown)", 3}}));
}

TEST(SampledSnapshot, SharesFramesBetweenEntries) {
  auto interval = interval_of({BlockRecord(1).in_user({1, 2}).in_kernel({10}),
                               BlockRecord(1).in_user({3, 2}).in_kernel({10}),
                               BlockRecord(1).in_user({1, 2, 1, 2})});
  interval.kernel_names = {{10, kernel_frame("do_poll+0x1/0x2")}};
  const auto made = named(interval);
  EXPECT_THAT(made.snapshot.entries, SizeIs(3));
  EXPECT_THAT(made.snapshot.frames, SizeIs(4));
}

// Two containers may have libraries of one name with equal functions at equal places.
TEST(SampledSnapshot, KeepsFramesOfDifferentBuildsApart) {
  auto interval = interval_of({BlockRecord(1).in_user({1}), BlockRecord(1).of(7).in_user({1})});
  for (std::size_t i = 0; i < 2; ++i) interval.stacks.sums[i].user[0].file_offset = 100 + i;
  const auto made = named(interval);
  std::set<std::string> builds;
  for (const StackEntry& entry : made.snapshot.entries) {
    builds.insert(made.snapshot.frames.at(entry.user.at(0)).build_id);
  }
  EXPECT_THAT(builds, ElementsAre("100", "101"));
}

TEST(SampledSnapshot, SaysThatAKernelAddressIsUnknown) {
  const auto made = named(interval_of({BlockRecord(1).in_kernel({10})}));
  const StackFrame& frame = made.snapshot.frames.at(made.snapshot.entries.at(0).kernel.at(0));
  EXPECT_EQ(frame.function, "[unknown]");
  EXPECT_EQ(frame.object, "[kernel]");
  EXPECT_TRUE(frame.kernel);
}

TEST(SampledSnapshot, TakesTheIntervalOver) {
  SampledInterval interval = empty_interval();
  interval.begin = WallTime(std::chrono::seconds(100));
  interval.end = WallTime(std::chrono::seconds(160));
  interval.duration = std::chrono::seconds(59);
  interval.partial = true;
  const auto made = named(interval);
  EXPECT_EQ(made.snapshot.begin, interval.begin);
  EXPECT_EQ(made.snapshot.end, interval.end);
  EXPECT_EQ(made.snapshot.duration, interval.duration);
  EXPECT_TRUE(made.snapshot.partial);
  EXPECT_THAT(made.snapshot.entries, IsEmpty());  // no entry for no time
}

// Of three samples at one place and one elsewhere; what is in progress is no episode yet.
TEST(SampledSnapshot, TheLongestEpisodeOfAPlaceIsItsExemplar) {
  SampledInterval interval =
      interval_of({BlockRecord(5'000'000).in_user({1, 2}), BlockRecord(9'000'000).in_user({1, 2}),
                   BlockRecord(7'000'000).in_user({1, 2}), BlockRecord(3'000'000).in_user({3}),
                   BlockRecord(8'000'000'000).in_user({3}).flagged(OFFCPUD_SAMPLE_IN_PROGRESS)});
  interval.end = WallTime(std::chrono::seconds(1'000));
  interval.ended = MonotonicTime(std::chrono::seconds(3));
  const SampledSnapshot made = named(interval);
  const StackIds ids(made.snapshot);
  std::map<std::uint64_t, std::uint64_t> by_time;  // the stacks of entries
  for (const StackEntry& entry : made.snapshot.entries) by_time[entry.ns] = ids.of(entry);
  std::map<std::uint64_t, Exemplar> by_length;
  for (const FoundExemplar& one : made.exemplars) {
    EXPECT_EQ(one.process_start_ns, 100U);
    EXPECT_EQ(one.kind, std::size_t{OFFCPUD_BLOCKED_POLL});
    EXPECT_EQ(one.cgroup, "(unknown)");
    by_length[one.exemplar.duration_ns] = one.exemplar;
  }
  ASSERT_THAT(by_length, SizeIs(2));
  EXPECT_EQ(by_length.at(9'000'000).pid, 100U);
  // It began at 1 s of a clock that was at 3 s when the interval ended.
  EXPECT_EQ(by_length.at(9'000'000).ended,
            WallTime(std::chrono::milliseconds(1'000'000 - 2'000 + 9)));
  EXPECT_EQ(by_length.at(9'000'000).stack, by_time.at(5'000'000 + 9'000'000 + 7'000'000));
  EXPECT_EQ(by_length.at(3'000'000).stack, by_time.at(3'000'000));
  EXPECT_NE(by_length.at(9'000'000).stack, by_length.at(3'000'000).stack);
}

TEST(SampledSnapshot, LeavesOutWhatTheRulesSayAndSaysSo) {
  const KnownCgroups cgroups{{7, "7"}, {8, "8"}, {9, "9"}};
  SampledInterval interval = interval_of(
      {BlockRecord(1).in_cgroup(7).in_user({1}), BlockRecord(2).in_cgroup(8).in_user({2}),
       BlockRecord(4).in_cgroup(9).in_user({3})},
      cgroups);
  interval.lost_ns = 16;  // of no cgroup
  CaptureRules rules;
  rules.keeps_cgroup = [](std::string_view path) { return path != "/8"; };
  rules.text = "all but 8";
  interval.capture = std::make_shared<const CaptureRules>(rules);
  const SampledSnapshot made = named(interval);
  const Snapshot& snapshot = made.snapshot;
  std::uint64_t ns = 0;
  for (const StackEntry& entry : snapshot.entries) ns += entry.ns;
  EXPECT_EQ(ns, 1U + 4 + 16);
  EXPECT_THAT(snapshot.entries, SizeIs(3));
  // Nor is a name left of it, and the others still have theirs.
  std::set<std::uint32_t> used;
  for (const StackEntry& entry : snapshot.entries)
    used.insert(entry.user.begin(), entry.user.end());
  EXPECT_EQ(used.size(), snapshot.frames.size());
  interval.capture = nullptr;
  EXPECT_EQ(named(interval).snapshot.frames.size(), snapshot.frames.size() + 1);
  EXPECT_THAT(snapshot.captured, ElementsAre("all but 8"));
  std::map<std::string, std::uint64_t> times;
  for (const StackEntry& entry : snapshot.entries) times[entry.cgroup] += entry.ns;
  std::set<std::uint64_t> longest;
  for (const FoundExemplar& one : made.exemplars) {
    EXPECT_EQ(times[one.cgroup], one.exemplar.duration_ns);
    longest.insert(one.exemplar.duration_ns);
  }
  EXPECT_THAT(longest, ElementsAre(1, 4));
}

}  // namespace
}  // namespace offcpud
