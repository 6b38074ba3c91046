// SPDX-License-Identifier: Apache-2.0
#include "stacks/snapshot_draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "snapshot/stack_id.h"
#include "stacks/kernel_frame.h"
#include "support/sampled_blocks.h"

namespace offcpud {
namespace {

using test::BlockRecord;
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

SampledInterval interval_of(const std::vector<BlockRecord>& records) {
  SampledInterval interval;
  BlockStacks stacks(1000);
  for (const BlockRecord& record : records) {
    const SampledBlock block = record.block();
    BlockSum* const sum = stacks.add(block);
    if (sum == nullptr) continue;
    sum->user = located(block.user);
    sum->waker_user = located(block.waker_user);
  }
  interval.cut = stacks.cut();
  return interval;
}

SnapshotDraft drafted(const SampledInterval& interval) {
  AddressNames names;
  return draft_of(interval, names);
}

Functions functions(const Snapshot& snapshot, const std::vector<std::uint32_t>& frames) {
  Functions names;
  for (const std::uint32_t frame : frames) names.push_back(snapshot.frames.at(frame).function);
  return names;
}

// The only entry, and the functions of one of its stacks.
Functions only(const SnapshotDraft& draft, std::vector<std::uint32_t> StackEntry::*stack) {
  EXPECT_THAT(draft.snapshot.entries, SizeIs(1));
  return functions(draft.snapshot, draft.snapshot.entries.at(0).*stack);
}

TEST(SnapshotDraft, PutsTheOutermostFrameFirst) {
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
  const auto draft = drafted(interval);
  EXPECT_THAT(only(draft, &StackEntry::user), ElementsAre("f3", "f2", "f1"));
  EXPECT_THAT(only(draft, &StackEntry::kernel), ElementsAre("do_syscall_64", "futex_wait"));
  EXPECT_THAT(only(draft, &StackEntry::waker_user), ElementsAre("f5'", "f4'"));
  EXPECT_THAT(only(draft, &StackEntry::waker_kernel), ElementsAre("futex_wake", "try_to_wake_up"));
}

TEST(SnapshotDraft, SaysWhoseTimeItIs) {
  BlockRecord record = BlockRecord(2).of(7).named("worker").of_process_named("server");
  record.sample.local_tgid = 8;
  record.sample.kind = OFFCPUD_BLOCKED_DISK;
  const auto draft = drafted(interval_of({record.standing_for(1000), record}));
  const StackEntry& entry = draft.snapshot.entries.at(0);
  EXPECT_EQ(entry.pid, 8U);
  EXPECT_EQ(entry.comm, "server");
  EXPECT_EQ(entry.thread_comm, "worker");
  EXPECT_EQ(entry.reason, std::size_t{OFFCPUD_BLOCKED_DISK});
  EXPECT_EQ(entry.ns, 2000U);
  EXPECT_DOUBLE_EQ(entry.episodes, 1000);
  EXPECT_FALSE(entry.in_progress);
}

TEST(SnapshotDraft, MarksBlocksThatLast) {
  const auto draft = drafted(interval_of({BlockRecord(2).flagged(OFFCPUD_SAMPLE_IN_PROGRESS)}));
  EXPECT_TRUE(draft.snapshot.entries.at(0).in_progress);
  EXPECT_EQ(draft.snapshot.entries.at(0).episodes, 0);
}

TEST(SnapshotDraft, ReadsANameOfFullLength) {
  BlockRecord record(1);
  std::fill(std::begin(record.sample.comm), std::end(record.sample.comm), 'x');
  EXPECT_EQ(drafted(interval_of({record})).snapshot.entries.at(0).thread_comm,
            std::string(OFFCPUD_COMM, 'x'));
}

TEST(SnapshotDraft, CallsAnInterruptIrqAndCutsWhatItInterrupted) {
  auto interval = interval_of(
      {BlockRecord(5).woken_by(OFFCPUD_FROM_INTERRUPT, 7, "victim").woken_in({20, 21, 22})});
  interval.kernel_names = {{20, kernel_frame("hrtimer_wakeup+0x1/0x2")},
                           {21, kernel_frame("asm_sysvec_apic_timer_interrupt+0x1/0x2")},
                           {22, kernel_frame("md5_transform+0x1/0x2")}};
  const auto draft = drafted(interval);
  EXPECT_EQ(draft.snapshot.entries.at(0).waker_comm, "[irq]");
  EXPECT_EQ(draft.snapshot.entries.at(0).waker_pid, 0U);
  EXPECT_THAT(only(draft, &StackEntry::waker_kernel),
              ElementsAre("asm_sysvec_apic_timer_interrupt", "hrtimer_wakeup"));
}

TEST(SnapshotDraft, NamesNoWakerWhereNobodyIsKnown) {
  const auto draft = drafted(interval_of({BlockRecord(5).woken_in({20}, {4})}));
  const StackEntry& entry = draft.snapshot.entries.at(0);
  EXPECT_EQ(entry.waker_comm, "");
  EXPECT_THAT(entry.waker_kernel, IsEmpty());
  EXPECT_THAT(entry.waker_user, IsEmpty());
}

// Only ROOT says that a stack is whole, and a thread of the kernel has none to be walked.
TEST(SnapshotDraft, SaysAtTheRootWhyAStackIsIncomplete) {
  std::set<std::string> markers;
  for (int end = 0; end < OFFCPUD_UNWIND_ENDS; ++end) {
    const auto why = static_cast<offcpud_unwind_end>(end);
    const auto user =
        only(drafted(interval_of({BlockRecord(5).in_user({1}).ended_by(why)})), &StackEntry::user);
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

TEST(SnapshotDraft, KeepsTheMarkerOfAStackWithoutAnyFrame) {
  EXPECT_THAT(only(drafted(interval_of({BlockRecord(5).ended_by(OFFCPUD_UNWIND_END_READ)})),
                   &StackEntry::user),
              ElementsAre("[incomplete: stack not readable]"));
}

TEST(SnapshotDraft, KeepsTimeWhoseStackIsNotKnown) {
  auto interval = interval_of({BlockRecord(5).in_user({1}).in_cgroup(9)});
  interval.cut.overflow_ns = 30;
  interval.lost_ns = 400;
  const auto draft = drafted(interval);
  std::map<Functions, std::uint64_t> times;
  for (const StackEntry& entry : draft.snapshot.entries) {
    times[functions(draft.snapshot, entry.user)] += entry.ns;
  }
  EXPECT_EQ(times,
            (std::map<Functions, std::uint64_t>{{{"f1"}, 5},
                                                {{"[more different stacks than are kept]"}, 30},
                                                {{"[samples that found no room]"}, 400}}));
  EXPECT_THAT(draft.cgroup_ids, ElementsAre(9, 0, 0));
}

TEST(SnapshotDraft, HasACgroupForEveryEntry) {
  const auto draft = drafted(interval_of(
      {BlockRecord(1).in_cgroup(70), BlockRecord(2).in_cgroup(80), BlockRecord(3).in_cgroup(90)}));
  ASSERT_EQ(draft.cgroup_ids.size(), draft.snapshot.entries.size());
  std::map<std::uint64_t, std::uint64_t> times;
  for (std::size_t i = 0; i < draft.cgroup_ids.size(); ++i) {
    times[draft.cgroup_ids[i]] += draft.snapshot.entries[i].ns;
  }
  EXPECT_EQ(times, (std::map<std::uint64_t, std::uint64_t>{{70, 1}, {80, 2}, {90, 3}}));
}

TEST(SnapshotDraft, SharesFramesBetweenEntries) {
  auto interval = interval_of({BlockRecord(1).in_user({1, 2}).in_kernel({10}),
                               BlockRecord(1).in_user({3, 2}).in_kernel({10}),
                               BlockRecord(1).in_user({1, 2, 1, 2})});
  interval.kernel_names = {{10, kernel_frame("do_poll+0x1/0x2")}};
  const auto draft = drafted(interval);
  EXPECT_THAT(draft.snapshot.entries, SizeIs(3));
  EXPECT_THAT(draft.snapshot.frames, SizeIs(4));
}

// Two containers may have libraries of one name with equal functions at equal places.
TEST(SnapshotDraft, KeepsFramesOfDifferentBuildsApart) {
  auto interval = interval_of({BlockRecord(1).in_user({1}), BlockRecord(1).of(7).in_user({1})});
  for (std::size_t i = 0; i < 2; ++i) interval.cut.sums[i].user[0].file_offset = 100 + i;
  const auto draft = drafted(interval);
  std::set<std::string> builds;
  for (const StackEntry& entry : draft.snapshot.entries) {
    builds.insert(draft.snapshot.frames.at(entry.user.at(0)).build_id);
  }
  EXPECT_THAT(builds, ElementsAre("100", "101"));
}

TEST(SnapshotDraft, SaysThatAKernelAddressIsUnknown) {
  const auto draft = drafted(interval_of({BlockRecord(1).in_kernel({10})}));
  const StackFrame& frame = draft.snapshot.frames.at(draft.snapshot.entries.at(0).kernel.at(0));
  EXPECT_EQ(frame.function, "[unknown]");
  EXPECT_EQ(frame.object, "[kernel]");
  EXPECT_TRUE(frame.kernel);
}

TEST(SnapshotDraft, TakesTheIntervalOver) {
  SampledInterval interval;
  interval.begin = WallTime(std::chrono::seconds(100));
  interval.end = WallTime(std::chrono::seconds(160));
  interval.duration = std::chrono::seconds(59);
  interval.partial = true;
  const auto draft = drafted(interval);
  EXPECT_EQ(draft.snapshot.begin, interval.begin);
  EXPECT_EQ(draft.snapshot.end, interval.end);
  EXPECT_EQ(draft.snapshot.duration, interval.duration);
  EXPECT_TRUE(draft.snapshot.partial);
  EXPECT_THAT(draft.snapshot.entries, IsEmpty());  // no entry for no time
}

// Of three samples at one place and one elsewhere; what is in progress is no episode yet.
TEST(SnapshotDraft, TheLongestEpisodeOfAPlaceIsItsExemplar) {
  SampledInterval interval =
      interval_of({BlockRecord(5'000'000).in_user({1, 2}), BlockRecord(9'000'000).in_user({1, 2}),
                   BlockRecord(7'000'000).in_user({1, 2}), BlockRecord(3'000'000).in_user({3}),
                   BlockRecord(8'000'000'000).in_user({3}).flagged(OFFCPUD_SAMPLE_IN_PROGRESS)});
  interval.end = WallTime(std::chrono::seconds(1'000));
  interval.ended = MonotonicTime(std::chrono::seconds(3));
  const SnapshotDraft draft = drafted(interval);
  const StackIds ids(draft.snapshot);
  std::map<std::uint64_t, Exemplar> by_length;
  for (const DraftExemplar& one : draft.exemplars) {
    EXPECT_EQ(one.exemplar.stack, ids.of(draft.snapshot.entries[one.entry]));
    EXPECT_EQ(one.process_start_ns, 100U);
    by_length[one.exemplar.duration_ns] = one.exemplar;
  }
  ASSERT_THAT(by_length, SizeIs(2));
  EXPECT_EQ(by_length.at(9'000'000).pid, 100U);
  // It began at 1 s of a clock that was at 3 s when the interval ended.
  EXPECT_EQ(by_length.at(9'000'000).ended,
            WallTime(std::chrono::milliseconds(1'000'000 - 2'000 + 9)));
  EXPECT_NE(by_length.at(9'000'000).stack, by_length.at(3'000'000).stack);
}

// A window may be longer than the time for which the daemon remembers a cgroup that is gone.
TEST(SnapshotDraft, TakesThePathsThatWereToldWhileTheCgroupsExisted) {
  SampledInterval interval =
      interval_of({BlockRecord(1).in_cgroup(7), BlockRecord(2).in_cgroup(8)});
  const auto names = std::make_shared<CgroupNames>();
  names->add(7, "/gone");
  interval.cgroups = names;
  const auto path_of = [](std::uint64_t id) { return "(unknown " + std::to_string(id) + ")"; };
  SnapshotDraft draft = drafted(interval);
  draft.complete(path_of);
  const Snapshot& snapshot = draft.snapshot;
  std::set<std::string> paths;
  for (const StackEntry& entry : snapshot.entries) paths.insert(entry.cgroup);
  EXPECT_THAT(paths, ElementsAre("(unknown 8)", "/gone"));
}

TEST(SnapshotDraft, LeavesOutWhatTheRulesSayAndSaysSo) {
  SampledInterval interval = interval_of({BlockRecord(1).in_cgroup(7).in_user({1}),
                                          BlockRecord(2).in_cgroup(8).in_user({2}),
                                          BlockRecord(4).in_cgroup(9).in_user({3})});
  interval.lost_ns = 16;  // of no cgroup
  CaptureRules rules;
  rules.keeps_cgroup = [](std::string_view path) { return path != "/8"; };
  rules.text = "all but 8";
  interval.capture = std::make_shared<const CaptureRules>(rules);
  const auto path_of = [](std::uint64_t id) { return "/" + std::to_string(id); };
  SnapshotDraft draft = drafted(interval);
  draft.complete(path_of);
  const Snapshot& snapshot = draft.snapshot;
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
  EXPECT_EQ(drafted(interval).snapshot.frames.size(), snapshot.frames.size() + 1);
  EXPECT_THAT(snapshot.captured, ElementsAre("all but 8"));
  ASSERT_EQ(draft.cgroup_ids.size(), snapshot.entries.size());
  std::set<std::uint64_t> longest;
  for (const DraftExemplar& one : draft.exemplars) {
    EXPECT_EQ(snapshot.entries[one.entry].ns, one.exemplar.duration_ns);
    longest.insert(one.exemplar.duration_ns);
  }
  EXPECT_THAT(longest, ElementsAre(1, 4));
}

}  // namespace
}  // namespace offcpud
