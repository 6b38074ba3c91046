// SPDX-License-Identifier: Apache-2.0
// What files, wakers, children and pipes say of the waits of a window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "sampler/site_place.h"
#include "stacks/sampling_intervals.h"
#include "unit/sampler/wait_examiner_fixture.h"

namespace offcpud::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The place of a block in these functions of shopd, outermost first.
std::uint64_t place_of(const BlockRecord& record, std::initializer_list<const char*> functions) {
  PlaceNumber place(record.sample.kind);
  for (const char* const function : functions) {
    StackFrame frame;
    frame.function = function;
    frame.object = "shopd";
    place.add(name_hash(frame));
  }
  return place.number();
}

TEST_F(WaitExaminerTest, FilesDecideAtOnce) {
  const auto on = [](std::uint32_t files, std::uint32_t pid) {
    BlockRecord record = BlockRecord(1'000).of(pid).in_user({3});
    record.sample.waited_on = files;
    return record;
  };
  lasting(on(OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_ALONE, 7));
  lasting(on(OFFCPUD_ON_ASKED | OFFCPUD_ON_ALONE, 8));
  ended(on(OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_ALONE, 9));
  const auto window = examine();
  const std::uint64_t since = BlockRecord(1).sample.since_ns;
  EXPECT_EQ(window->find(7, since, false)->wait_for, WaitFor::Work);
  EXPECT_THAT(window->find(7, since, false)->user, IsEmpty());
  const auto asked = window->find(8, since, false);
  EXPECT_EQ(asked->wait_for, WaitFor::Answer);
  EXPECT_THAT(asked->user, ElementsAre("shop::f3 [shopd]"));
  EXPECT_EQ(window->ended.at(0).wait_for, WaitFor::Work);
}

// Snapshots have learned what the waits of this place are for: one third a lock, the rest work.
TEST_F(WaitExaminerTest, WakersOfSnapshotsSplitWhatEnded) {
  const BlockRecord record = BlockRecord(3'000).of(7).in_user({6});
  const std::uint64_t place = place_of(record, {"shop::f6"});
  PlaceClasses::Times times{};
  times[static_cast<std::size_t>(WaitFor::Lock)] = 1;
  times[static_cast<std::size_t>(WaitFor::Work)] = 2;
  places_.put({.tgid = 7, .process_start_ns = 7, .place = place}, ShareOwner(7), times,
              clock_.now());
  ended(record);
  ended(BlockRecord(5'000).of(8).in_user({6}));  // nobody knows this process
  const auto window = examine();
  std::map<WaitFor, double> sums;
  for (const EndedWaits& each : window->ended) sums[each.wait_for] += each.waits.sum_ns;
  EXPECT_DOUBLE_EQ(sums[WaitFor::Lock], 1'000);
  EXPECT_DOUBLE_EQ(sums[WaitFor::Work], 2'000);
  EXPECT_DOUBLE_EQ(sums[WaitFor::Unknown], 5'000);
}

// Of a block that lasts, the thread itself is known: it has been in a convoy here.
TEST_F(WaitExaminerTest, WakersOfSnapshotsDecideWhatLasts) {
  const BlockRecord record = BlockRecord(3'000).of(7).in_user({6, 5});
  const std::uint64_t place = place_of(record, {"shop::f5", "shop::f6"});
  std::vector<SeenWaits> convoy;
  for (const auto& [tid, waker] : {std::pair(7U, 17U), std::pair(17U, 7U)}) {
    convoy.push_back({.at = {.tgid = 7, .tid = tid, .process_start_ns = 7, .place = place},
                      .end = WaitEnd::Thread,
                      .waker_tgid = 7,
                      .waker_tid = waker,
                      .samples = 20,
                      .ns = 1e9,
                      .episodes = 20});
  }
  for (int i = 0; i < 2; ++i) evidence_.learn(convoy, clock_.now());
  lasting(record);
  const auto found = examine()->find(7, record.sample.since_ns, false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->wait_for, WaitFor::Lock);
  EXPECT_EQ(found->site, "shop-wait");
  EXPECT_TRUE(found->certain);
  EXPECT_THAT(found->user, ElementsAre("shop::f6 [shopd]", "shop::f5 [shopd]"));
  lasting(record, true);
  EXPECT_EQ(examine()->find(7, record.sample.since_ns, false), found) << "one wait for all windows";
}

// Other waits of the thread there were for an answer, as their interpreted functions said.
TEST_F(WaitExaminerTest, NamedWaitsOfAThreadDecideItsOthers) {
  const BlockRecord record = BlockRecord(3'000).of(7).in_user({6});
  const std::uint64_t place = place_of(record, {"shop::f6"});
  const ProcessPlace at{.tgid = 7, .process_start_ns = 7, .place = place};
  PlaceClasses::Times times{};
  times[static_cast<std::size_t>(WaitFor::Answer)] = 1;
  places_.put(place_of_thread(at, 8, 0), ShareOwner(7), times, clock_.now());
  lasting(record);
  EXPECT_EQ(examine()->find(7, record.sample.since_ns, false)->wait_for, WaitFor::Unknown)
      << "that is another thread";
  places_.put(place_of_thread(at, 7, 0), ShareOwner(7), times, clock_.now());
  lasting(record);
  const auto found = examine()->find(7, record.sample.since_ns, false);
  EXPECT_EQ(found->wait_for, WaitFor::Answer);
  EXPECT_FALSE(found->certain);
}

// A worker whose waits a producer ended, so wakers say "work", until its place fell silent.
TEST_F(WaitExaminerTest, OfASilenceThatWakersNeverSawNobodyCanTell) {
  const auto ns_now = [this] {
    return static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  };
  BlockRecord record = BlockRecord(4'000'000).of(7).in_user({6});
  const std::uint64_t place = place_of(record, {"shop::f6"});
  const std::vector<SeenWaits> jobs = {
      {.at = {.tgid = 7, .tid = 7, .process_start_ns = 7, .place = place},
       .end = WaitEnd::Thread,
       .waker_tgid = 7,
       .waker_tid = 17,
       .samples = 20,
       .ns = 1e9,
       .episodes = 20}};
  for (int window = 0; window < 10; ++window) {
    record.sample.ended_ns = ns_now() + 10'000'000'000;
    record.sample.since_ns = record.sample.ended_ns - record.sample.ns;
    for (int i = 0; i < 50; ++i) ended(record);
    examine();
    evidence_.learn(jobs, clock_.now());
  }
  BlockRecord silent = BlockRecord(1).of(7).in_user({6});
  silent.sample.since_ns = ns_now() + 1'000'000;
  silent.sample.ended_ns = silent.sample.since_ns + 1;
  const auto wait_after = [&](std::chrono::seconds time, bool known) {
    lasting(silent, known);
    const auto window = examine(time);
    EXPECT_EQ(window->blocks.size(), 1U);
    EXPECT_EQ(window->sites.front().wait_for, WaitFor::Work) << "in sums it is what wakers say";
    return window->blocks.front();
  };
  const ExaminedBlock silent_now = wait_after(20s, false);
  EXPECT_EQ(silent_now.wait->wait_for, WaitFor::Unknown);
  EXPECT_FALSE(silent_now.wait->certain);
  ASSERT_TRUE(silent_now.usual);
  EXPECT_EQ(silent_now.usual->silent_ns, 20'000'000'000U);
  const ExaminedBlock for_long = wait_after(100s, true);
  EXPECT_EQ(for_long.wait->wait_for, WaitFor::Work) << "silence may be what is usual by now";
  EXPECT_FALSE(for_long.usual);
}

TEST_F(WaitExaminerTest, WhoAwaitsAChildWaitsForWhatThatWaitsFor) {
  const auto child = [](std::uint32_t pid, std::uint32_t parent, std::uint64_t function) {
    BlockRecord record = BlockRecord(1'000).of(pid).in_user({function});
    record.sample.parent_tgid = parent;
    if (function == 7) record.sample.kind = OFFCPUD_BLOCKED_CHILD;
    return record;
  };
  const std::uint64_t since = BlockRecord(1).sample.since_ns;
  lasting(child(7, 1, 7));
  lasting(child(8, 7, 2));
  lasting(child(17, 1, 7));
  lasting(child(18, 17, 1));
  const auto window = examine();
  EXPECT_EQ(window->find(7, since, false)->wait_for, WaitFor::Work);
  EXPECT_EQ(window->find(17, since, false)->wait_for, WaitFor::Answer);
  EXPECT_TRUE(window->find(17, since, false)->certain);
  // When such a wait ends, it was for what it was for while it lasted.
  ended(child(7, 1, 7));
  EXPECT_EQ(examine()->ended.at(0).wait_for, WaitFor::Work);
  ended(child(17, 1, 7));
  EXPECT_EQ(examine()->ended.at(0).wait_for, WaitFor::Answer);
  ended(child(27, 1, 7));
  const auto unseen = examine();
  EXPECT_EQ(unseen->ended.at(0).wait_for, WaitFor::Unknown) << "no walk saw its child";
  EXPECT_EQ(unseen->sites.at(0).wait_for, WaitFor::Answer);
}

// A shell that runs short commands, each of which waits a moment after the shell does. A walk may
// see the shell alone.
TEST_F(WaitExaminerTest, WhoHasJustBegunToAwaitAChildSaysNothingOfThePlace) {
  const auto block = [](std::chrono::nanoseconds age, std::uint32_t pid, std::uint64_t function) {
    BlockRecord record = BlockRecord(static_cast<std::uint64_t>(age.count())).of(pid);
    record.in_user({function}).sample.parent_tgid = pid - 1;
    if (function == 7) record.sample.kind = OFFCPUD_BLOCKED_CHILD;
    return record;
  };
  const auto said_of_ended = [&] {
    ended(block(500ms, 7, 7));
    const auto window = examine();
    return std::pair(window->sites.at(0).wait_for, window->ended.at(0).wait_for);
  };
  lasting(block(450ms, 7, 7));
  lasting(block(440ms, 8, 2));
  (void)examine();
  lasting(block(410ms, 7, 7));
  EXPECT_EQ(examine()->blocks.at(0).wait->wait_for, WaitFor::Answer);
  EXPECT_EQ(said_of_ended(), std::pair(WaitFor::Work, WaitFor::Work));
  lasting(block(5s, 7, 7));
  (void)examine();
  EXPECT_EQ(said_of_ended(), std::pair(WaitFor::Answer, WaitFor::Unknown))
      << "its command runs: metrics, which have no column for children, do not guess";
}

// The writer has just begun to wait for its next command: no walk has seen that.
TEST_F(WaitExaminerTest, AReaderOfAPipeWaitsAsBeforeWhileNothingIsKnownOfTheWriter) {
  rules_ = rules_of(R"(
sites:
  - {name: shop-lock, for: lock, match: "... < shop::f2"}
  - {name: shop-reads, for: unknown, ask: pipe, match: "... < shop::f3"}
)");
  BlockRecord reader = BlockRecord(1'000).of(7).in_user({3});
  reader.sample.waited_on = OFFCPUD_ON_PIPE;
  reader.sample.holder_tgid = 8;
  const std::uint64_t since = reader.sample.since_ns;
  lasting(reader);
  EXPECT_EQ(examine()->find(7, since, false)->wait_for, WaitFor::Unknown);
  lasting(reader, true);
  lasting(BlockRecord(1'000).of(8).in_user({2}));
  EXPECT_EQ(examine(1s)->find(7, since, false)->wait_for, WaitFor::Answer);
  lasting(reader, true);
  const auto held = examine(1s)->find(7, since, false);
  EXPECT_EQ(held->wait_for, WaitFor::Answer);
  EXPECT_TRUE(held->certain);
  lasting(reader, true);
  EXPECT_EQ(examine(WaitExaminer::kChainHolds)->find(7, since, false)->wait_for, WaitFor::Unknown)
      << "it runs now, perhaps";
}

// Three threads of one process read pipes at one place; the last of them waits for an answer.
TEST_F(WaitExaminerTest, AllThreadsAtAPlaceSayWhatItIsFor) {
  rules_ = rules_of(R"(
sites:
  - {name: shop-timer, for: timer, match: "... < shop::f1"}
  - {name: shop-lock, for: lock, match: "... < shop::f2"}
  - {name: shop-reads, for: unknown, ask: pipe, match: "... < shop::f3"}
)");
  const auto reader = [](std::uint64_t ns, std::uint32_t tid, std::uint32_t writer) {
    BlockRecord record = BlockRecord(ns).of(7).in_user({3});
    record.sample.tid = tid;
    record.sample.waited_on = OFFCPUD_ON_PIPE;
    record.sample.holder_tgid = writer;
    return record;
  };
  lasting(reader(1'000, 20, 8));
  lasting(reader(5'000, 21, 8));
  lasting(reader(2'000, 22, 9));
  lasting(BlockRecord(1'000).of(8).in_user({1}));
  lasting(BlockRecord(1'000).of(9).in_user({2}));
  examine();
  ended(reader(8'000, 23, 0));
  std::map<WaitFor, double> sums;
  for (const EndedWaits& each : examine()->ended) sums[each.wait_for] += each.waits.sum_ns;
  EXPECT_DOUBLE_EQ(sums[WaitFor::Work], 6'000);
  EXPECT_DOUBLE_EQ(sums[WaitFor::Answer], 2'000);
}

}  // namespace
}  // namespace offcpud::test
