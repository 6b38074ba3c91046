// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "sampler/site_place.h"
#include "stacks/sampling_intervals.h"
#include "unit/sampler/wait_examiner_fixture.h"
#include "waited.h"

namespace offcpud::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(WaitExaminerTest, SumsByCgroupAndWhatTheyWereFor) {
  ended(BlockRecord(1'000).in_user({1}));
  ended(BlockRecord(2'000).standing_for(8'000).in_user({1}));
  ended(BlockRecord(3'000).in_user({1}).in_cgroup(2));
  ended(BlockRecord(4'000).in_user({2}));
  ended(BlockRecord(5'000).in_user({4}));
  const auto window = examine();
  std::map<std::pair<std::string, WaitFor>, double> sums;
  for (const EndedWaits& each : window->ended) {
    sums[{each.cgroup, each.wait_for}] += each.waits.sum_ns;
  }
  const std::string a = cgroup_paths_.path_of(1), b = cgroup_paths_.path_of(2);
  EXPECT_EQ(sums, (std::map<std::pair<std::string, WaitFor>, double>{{{a, WaitFor::Lock}, 9'000},
                                                                     {{a, WaitFor::Work}, 4'000},
                                                                     {{a, WaitFor::Unknown}, 5'000},
                                                                     {{b, WaitFor::Lock}, 3'000}}));
}

// Rules see the interpreter's own functions, people those of the program.
TEST_F(WaitExaminerTest, InterpretedFunctionsAreShownWithTheirLine) {
  const BlockRecord record = BlockRecord(5'000).in_user({1, 8});
  auto interpreted = std::make_shared<InterpretedStack>();
  interpreted->id = 4;
  interpreted->frames = {{"pay (till.py)", 12, 0}, {"main (till.py)", 0, 0}};
  SampledBlock block = record.block();
  block.interpreted = interpreted;
  block.sample.flags |= OFFCPUD_SAMPLE_IN_PROGRESS;
  cgroup_paths_.add(block.sample.cgroup_id);
  sums_.add(block)->user = located(record);
  sums_.note(block.sample);
  const auto window = examine();
  ASSERT_EQ(window->blocks.size(), 1U);
  const ExaminedWait& wait = *window->blocks[0].wait;
  EXPECT_EQ(wait.site, "shop-lock");
  EXPECT_THAT(wait.user, ElementsAre("pay (till.py:12)", "main (till.py)", "shop::f8 [shopd]"));
}

// Of two blocks with the same addresses, the functions of Python of one are known.
TEST_F(WaitExaminerTest, RulesSeeInterpretedFunctionsWhereTheyAreKnown) {
  auto interpreted = std::make_shared<InterpretedStack>();
  interpreted->id = 4;
  interpreted->frames = {{"pay (till.py)", 12, 1}, {"main (till.py)", 0, 1}};
  for (const bool is_known : {true, false}) {
    const BlockRecord record = BlockRecord(5'000).of(is_known ? 7 : 8).in_user({9, 8});
    SampledBlock block = record.block();
    if (is_known) block.interpreted = interpreted;
    block.sample.flags |= OFFCPUD_SAMPLE_IN_PROGRESS;
    cgroup_paths_.add(block.sample.cgroup_id);
    sums_.add(block)->user = located(record);
    sums_.note(block.sample);
  }
  const auto window = examine();
  ASSERT_EQ(window->blocks.size(), 2U);
  std::map<std::string, WaitFor> said;
  for (const ExaminedBlock& block : window->blocks) said[block.wait->site] = block.wait->wait_for;
  EXPECT_EQ(said, (std::map<std::string, WaitFor>{{"shop-till", WaitFor::Answer},
                                                  {"", WaitFor::Unknown}}));
}

// By reason and process, for the budget of stacks.
TEST_F(WaitExaminerTest, SumsByStratumWhetherSomebodyCanActOnThem) {
  ended(BlockRecord(2'000).of(7).standing_for(8'000).in_user({1}));
  ended(BlockRecord(4'000).of(7).in_user({2}));
  ended(BlockRecord(5'000).of(8).in_user({4}));
  lasting(BlockRecord(6'000).of(8).in_user({2}));  // it has not ended
  examine();
  const KnownWaits& of_7 = strata_[stratum_of(BlockRecord(1).of(7).sample)];
  EXPECT_EQ(of_7.actionable_ns, 8'000);
  EXPECT_EQ(of_7.idle_ns, 4'000);
  EXPECT_EQ(of_7.unknown_ns, 0);
  const KnownWaits& of_8 = strata_[stratum_of(BlockRecord(1).of(8).sample)];
  EXPECT_EQ(of_8.actionable_ns + of_8.idle_ns, 0);
  EXPECT_EQ(of_8.unknown_ns, 5'000);
}

// The samples of a block that began before the daemon did count from when it was found. Its age is
// that of the scheduler's account, as of stalls, and unknown where there is none.
TEST_F(WaitExaminerTest, ABlockOlderThanTheDaemonHasItsWholeAge) {
  BlockRecord old = BlockRecord(5'000).of(7).in_user({1}).flagged(OFFCPUD_SAMPLE_CENSORED);
  old.sample.asleep_ns = old.sample.since_ns - 95'000;
  lasting(old);
  BlockRecord young = BlockRecord(7'000).of(7).in_user({1});
  young.sample.tid = 77;  // another thread
  lasting(young);
  lasting(BlockRecord(9'000).of(8).in_user({1}).flagged(OFFCPUD_SAMPLE_CENSORED));
  const auto window = examine();
  std::map<std::uint32_t, SiteWaits> processes;
  for (const SiteWaits& each : window->sites) processes[each.pid] = each;
  EXPECT_EQ(processes[7].lasting, 2U);
  EXPECT_EQ(processes[7].oldest.ns, 100'000U);
  EXPECT_TRUE(processes[7].oldest.estimated);
  EXPECT_EQ(processes[7].time.ns, 12'000) << "since it was found";
  EXPECT_EQ(processes[8].lasting, 1U);
  EXPECT_EQ(processes[8].oldest.ns, 0U) << "nobody knows since when";
}

// The convoy of one process, beside an idle one.
TEST_F(WaitExaminerTest, SumsTheTimeByProcessAndSite) {
  ended(BlockRecord(2'000).of(7).of_process_named("shopd").standing_for(8'000).in_user({1}));
  ended(BlockRecord(1'000).of(7).in_user({1, 5}));
  lasting(BlockRecord(5'000).of(7).in_user({1}));
  lasting(BlockRecord(6'000).of(8).in_user({2}));
  lasting(BlockRecord(9'000).of(9), true);
  const auto window = examine();
  std::map<std::uint32_t, SiteWaits> processes;
  for (const SiteWaits& each : window->sites) processes[each.pid] = each;
  ASSERT_EQ(window->sites.size(), 3U);
  const SiteWaits& convoy = processes[7];
  EXPECT_EQ(convoy.site, "shop-lock");
  EXPECT_EQ(convoy.wait_for, WaitFor::Lock);
  EXPECT_EQ(convoy.cgroup, cgroup_paths_.path_of(1));
  EXPECT_EQ(convoy.process_start_ns, 7U);
  EXPECT_EQ(convoy.comm, "shopd") << "for rows of processes that end before a walk finds them";
  EXPECT_EQ(convoy.time, (WaitTime{.ns = 14'000, .variance_ns2 = 8'000.0 * 6'000}));
  EXPECT_EQ(convoy.lasting, 1U);
  EXPECT_EQ(convoy.oldest.ns, 5'000U);
  EXPECT_FALSE(convoy.oldest.estimated);
  EXPECT_EQ(processes[8].wait_for, WaitFor::Work);
  EXPECT_EQ(processes[8].comm, "process") << "its wait has not ended";
  EXPECT_EQ(processes[9].wait_for, WaitFor::Unknown) << "nobody looked at it";
  EXPECT_EQ(processes[9].time.ns, 9'000);
}

TEST_F(WaitExaminerTest, OfWhatLastsItCountsWhatIsOnSockets) {
  BlockRecord asks = BlockRecord(6'000).of(7).in_user({1});
  asks.sample.waited_on = OFFCPUD_ON_ASKED | OFFCPUD_ON_ALONE;
  BlockRecord reads = BlockRecord(6'000).of(8).in_user({1});
  reads.sample.waited_on = OFFCPUD_ON_PIPE | OFFCPUD_ON_ALONE;
  BlockRecord receives = BlockRecord(6'000).of(9).in_user({1});
  receives.sample.kind = OFFCPUD_BLOCKED_NETWORK;
  for (const BlockRecord& each : {asks, reads, receives}) lasting(each);
  ended(BlockRecord(5'000).of(7).in_user({1}));
  std::map<std::uint32_t, std::uint32_t> on_sockets;
  const auto window = examine();
  for (const SiteWaits& row : window->sites) {
    if (row.lasting > 0) on_sockets[row.pid] = row.on_sockets;
  }
  EXPECT_EQ(on_sockets, (std::map<std::uint32_t, std::uint32_t>{{7, 1}, {8, 0}, {9, 1}}));
}

TEST_F(WaitExaminerTest, SaysWhatLastsWithItsStackUnlessItIsIdle) {
  lasting(BlockRecord(1'000).of(7).in_user({1, 5}).in_kernel({9}));
  lasting(BlockRecord(1'000).of(8).in_user({2}).in_kernel({9}));
  lasting(BlockRecord(1'000).of(9).in_user({3}).flagged(OFFCPUD_SAMPLE_CENSORED));
  const auto window = examine();
  const std::uint64_t since = BlockRecord(1).sample.since_ns;
  const auto lock = window->find(7, since, false);
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->wait_for, WaitFor::Lock);
  EXPECT_EQ(lock->site, "shop-lock");
  EXPECT_TRUE(lock->certain);
  EXPECT_THAT(lock->user, ElementsAre("shop::f1 [shopd]", "shop::f5 [shopd]"));
  EXPECT_THAT(lock->kernel, ElementsAre("do_something"));
  const auto idle = window->find(8, since, false);
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->wait_for, WaitFor::Work);
  EXPECT_THAT(idle->user, IsEmpty());
  const auto unsure = window->find(9, 12345, true);
  ASSERT_TRUE(unsure) << "the beginning of such a block has another estimate elsewhere";
  EXPECT_FALSE(unsure->certain);
  EXPECT_FALSE(window->find(9, since, false));
  EXPECT_FALSE(window->find(7, since + 1, false)) << "a later block";
  EXPECT_FALSE(window->find(6, since, false));
  EXPECT_THAT(window->ended, IsEmpty());
}

// Two threads in one function of the kernel, of which one waits for a lock that the other one has.
// The stacks of walks lack the functions that wait for locks.
TEST_F(WaitExaminerTest, AWaitForALockOfTheKernelIsNoneForWhatItsCallerWaitsFor) {
  BlockRecord reads = BlockRecord(1'000).of(7).in_user({4}).in_kernel({9});
  BlockRecord locked = BlockRecord(1'000).of(8).in_user({4}).in_kernel({9});
  locked.sample.waited_on = OFFCPUD_ON_LOCK;
  lasting(reads);
  lasting(locked);
  const auto window = examine();
  const auto reader = window->find(7, reads.sample.since_ns, false);
  const auto waiter = window->find(8, locked.sample.since_ns, false);
  ASSERT_TRUE(reader && waiter);
  EXPECT_EQ(reader->site, "kernel-work");
  EXPECT_EQ(waiter->site, "kernel-lock");
  EXPECT_EQ(waiter->wait_for, WaitFor::Lock);
  EXPECT_TRUE(waiter->certain);
  EXPECT_THAT(waiter->kernel, ElementsAre("do_something")) << "no function is made up";
}

// Of a block at a place that fell silent, where no rule knows what for.
TEST_F(WaitExaminerTest, SaysWhatWasUsualWhereAPlaceFellSilent) {
  const auto ns_now = [this] {
    return static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  };
  const auto at = [](BlockRecord record, std::uint64_t ended_ns) {
    record.sample.since_ns = ended_ns - record.sample.ns;
    record.sample.ended_ns = ended_ns;
    return record;
  };
  for (int window = 0; window < 10; ++window) {
    const std::uint64_t end_ns = ns_now() + 10'000'000'000;
    for (int i = 0; i < 50; ++i) {
      ended(at(BlockRecord(4'000'000).standing_for(40'000'000).in_user({8}), end_ns));
      ended(at(BlockRecord(4'000'000).in_user({2}), end_ns));
    }
    examine();
  }
  const std::uint64_t since = ns_now() + 1'000'000;
  BlockRecord unknown = BlockRecord(1).of(7).in_user({8});
  BlockRecord elsewhere = BlockRecord(1).of(8).in_user({8}).in_cgroup(2);
  BlockRecord idle = BlockRecord(1).of(9).in_user({2});
  BlockRecord before = BlockRecord(1).of(10).in_user({8}).flagged(OFFCPUD_SAMPLE_CENSORED);
  for (BlockRecord* record : {&unknown, &elsewhere, &idle, &before}) {
    record->sample.since_ns = since;
    record->sample.ended_ns = since + 1;
    lasting(*record);
  }
  const auto window = examine(20s);
  ASSERT_EQ(window->blocks.size(), 4U);
  ASSERT_TRUE(window->blocks[0].usual);
  EXPECT_NEAR(window->blocks[0].usual->waits, 5'000, 500) << "each stands for ten";
  EXPECT_NEAR(static_cast<double>(window->blocks[0].usual->p99_ns), 4e6, 1e6);
  EXPECT_EQ(window->blocks[0].usual->seen_ns, 90'000'000'000U);
  EXPECT_EQ(window->blocks[0].usual->silent_ns, 20'000'000'000U);
  EXPECT_FALSE(window->blocks[1].usual) << "another unit";
  EXPECT_FALSE(window->blocks[2].usual) << "a rule says what for";
  EXPECT_FALSE(window->blocks[3].usual) << "nobody knows when it began";

  lasting(unknown, true);
  const auto next = examine(5s);
  ASSERT_EQ(next->blocks.size(), 1U);
  ASSERT_TRUE(next->blocks[0].usual) << "its stack is known from before";
  ended(at(BlockRecord(4'000'000).of(11).in_user({8}), ns_now()));
  lasting(unknown, true);
  EXPECT_FALSE(examine(5s)->blocks[0].usual) << "the place is lively again";
}

// Whose stacks gave way may have been lively; others are as silent as they seem.
TEST_F(WaitExaminerTest, ACgroupWhoseStacksHaveNoRoomIsNotSilent) {
  const auto ns_now = [this] {
    return static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  };
  const auto idles = [&](std::uint64_t cgroup, std::uint32_t place) {
    BlockRecord record = BlockRecord(4'000'000).of(20).in_user({place}).in_cgroup(cgroup);
    record.sample.ended_ns = ns_now() + 10'000'000'000;
    record.sample.since_ns = record.sample.ended_ns - record.sample.ns;
    for (int i = 0; i < 50; ++i) ended(record);
  };
  for (int window = 0; window < 10; ++window) {
    for (const std::uint64_t cgroup : {1, 2}) {
      idles(cgroup, 2);
      idles(cgroup, 8);
    }
    examine();
  }
  const std::uint64_t since = ns_now() + 1'000'000;
  const auto unusual = [&](std::uint64_t without_room_ns) {
    for (const std::uint32_t cgroup : {1, 2}) {
      idles(cgroup, 2);
      BlockRecord record = BlockRecord(1).of(6 + cgroup).in_user({8}).in_cgroup(cgroup);
      record.sample.since_ns = since;
      record.sample.ended_ns = since + 1;
      lasting(record);
    }
    if (without_room_ns != 0) without_room_[1].add(without_room_ns, without_room_ns);
    const auto window = examine(20s);
    EXPECT_EQ(window->blocks.size(), 2U);
    return std::pair(window->blocks[0].usual != nullptr, window->blocks[1].usual != nullptr);
  };
  constexpr std::uint64_t kIdleNs = 50 * 4'000'000;  // of each cgroup
  EXPECT_EQ(unusual(0), std::pair(true, true));
  EXPECT_EQ(unusual(kIdleNs / 20), std::pair(true, true)) << "a twentieth is next to nothing";
  EXPECT_EQ(unusual(kIdleNs / 5), std::pair(false, true)) << "the place may be in a sixth of all";
  EXPECT_EQ(unusual(10 * kIdleNs), std::pair(false, true)) << "a crowd is no matter of others";
}

// What a stack says is remembered: of a block whose stack was told, and of equal stacks.
TEST_F(WaitExaminerTest, NamesAStackOnce) {
  const std::uint64_t since = BlockRecord(1).sample.since_ns;
  lasting(BlockRecord(1'000).of(7).in_user({1, 5}));
  ASSERT_TRUE(examine()->find(7, since, false));
  EXPECT_EQ(names_.asked, 2);
  for (int window = 0; window < 5; ++window) {
    lasting(BlockRecord(1'000).of(7), true);
    ended(BlockRecord(1'000).of(7).in_user({1, 5}));
    ASSERT_TRUE(examine()->find(7, since, false));
  }
  EXPECT_EQ(names_.asked, 2);
  EXPECT_FALSE(examine()->find(7, since, false)) << "it ended";
  lasting(BlockRecord(1'000).of(7), true);
  const auto window = examine();
  EXPECT_FALSE(window->find(7, since, false));
  EXPECT_EQ(window->unexamined, 1U);
}

// A process may load other code, and a file may be read too late.
TEST_F(WaitExaminerTest, LooksAgainAtAStackAfterAWhile) {
  ended(BlockRecord(1'000).in_user({1}));
  ended(BlockRecord(1'000).in_user({4}));
  examine();
  EXPECT_EQ(names_.asked, 2);
  ended(BlockRecord(1'000).in_user({1}));
  ended(BlockRecord(1'000).in_user({4}));
  examine(WaitExaminer::kUnsureFor);
  EXPECT_EQ(names_.asked, 3) << "nobody could tell what the second one is";
  constexpr auto kStep = WaitExaminer::kKeptUnused - 1s;
  for (auto age = WaitExaminer::kUnsureFor + kStep; age < WaitExaminer::kGoodFor; age += kStep) {
    ended(BlockRecord(1'000).in_user({1}));
    examine(kStep);
  }
  EXPECT_EQ(names_.asked, 3);
  ended(BlockRecord(1'000).in_user({1}));
  examine(kStep);
  EXPECT_EQ(names_.asked, 4);
}

TEST_F(WaitExaminerTest, ForgetsStacksOfProcessesThatAreGone) {
  for (std::uint32_t pid = 1; pid <= 1'000; ++pid) {
    ended(BlockRecord(1'000).of(pid).in_user({1}));
  }
  examine();
  EXPECT_GT(examiner_.bytes(), 100'000U);
  ended(BlockRecord(1'000).of(1).in_user({1}));
  examine(WaitExaminer::kKeptUnused);
  EXPECT_GT(examiner_.bytes(), 100'000U);
  examine(1s);
  EXPECT_LT(examiner_.bytes(), 2'000U) << "one is left";
}

// 30 MB of one user's stacks in two processes.
TEST_F(WaitExaminerTest, OneUsersStacksDoNotMakeItForgetAnothers) {
  ended(BlockRecord(1'000).of(7).in_user({1, 5}));
  examine(1s);
  owners_ = ProcessOwners([](std::uint32_t tgid) { return ShareOwner(tgid == 7 ? 7 : 8); });
  for (std::uint32_t process = 20; process < 22; ++process) {
    for (std::uint64_t i = 0; i < 2'500; ++i) {
      std::vector<__u64> frames(100, 3);
      frames.front() = 1;
      frames.back() = 1'000 + i;
      ended(BlockRecord(1'000).of(process).in_user(frames));
    }
    examine(1s);
  }
  names_.asked = 0;
  ended(BlockRecord(1'000).of(7).in_user({1, 5}));
  examine(1s);
  EXPECT_EQ(names_.asked, 0) << "it is still known";
  std::vector<__u64> frames(100, 3);
  frames.front() = 1;
  frames.back() = 1'000;
  ended(BlockRecord(1'000).of(20).in_user(frames));
  examine(1s);
  EXPECT_EQ(names_.asked, 100) << "the other user's had to go";
}

// Programs choose the names of their functions. What blocks that last hold counts, too.
TEST_F(WaitExaminerTest, LongNamesOfDeepStacksHaveABound) {
  constexpr std::uint32_t kThreads = 1'500;
  rules_ = rules_of("sites:\n  - {name: shop-lock, for: lock, match: \"... < shop::f1*\"}\n");
  owners_ = ProcessOwners([](std::uint32_t tgid) { return ShareOwner(tgid == 7 ? 7 : 8); });
  lasting(BlockRecord(1'000).of(7).in_user({1, 5}));
  examine(1s);
  lasting(BlockRecord(1'000).of(7), true);
  EXPECT_EQ(examiner_.names_left_out(), 0U);
  names_.more.assign(4'000, 'x');
  for (std::uint32_t thread = 100; thread < 100 + kThreads; ++thread) {
    std::vector<__u64> frames(127, 3);
    frames.front() = 1;
    frames.back() = 1'000 + thread;
    lasting(BlockRecord(1'000).of(thread).in_user(frames));
  }
  const auto window = examine(1s);
  EXPECT_LE(examiner_.bytes(), WaitExaminer::kMostBytes);
  std::size_t bytes = 0, with_stack = 0;
  for (const ExaminedBlock& block : window->blocks) {
    EXPECT_EQ(block.wait->wait_for, WaitFor::Lock);
    EXPECT_EQ(block.wait->site, "shop-lock");
    std::size_t of_stack = 0;
    for (const std::string& text : block.wait->user) of_stack += text.size();
    EXPECT_LE(of_stack, StackTexts::kMostBytes);
    if (of_stack != 0) ++with_stack;
    bytes += of_stack;
  }
  EXPECT_EQ(window->blocks.size(), kThreads + 1);
  EXPECT_LE(bytes, WaitExaminer::kMostBytes);
  EXPECT_GT(bytes, WaitExaminer::kMostBytes / 2) << "what there is room for is shown";
  EXPECT_LT(with_stack, kThreads);
  EXPECT_EQ(examiner_.names_left_out(), kThreads + (kThreads + 1 - with_stack))
      << "all are shortened, and some have none";
  const auto other = window->find(7, BlockRecord(1).sample.since_ns, false);
  EXPECT_THAT(other->user, ElementsAre("shop::f1 [shopd]", "shop::f5 [shopd]"))
      << "it is another user's";
}

TEST_F(WaitExaminerTest, OtherRulesSayItAnew) {
  ended(BlockRecord(1'000).in_user({1}));
  EXPECT_EQ(examine()->ended.at(0).wait_for, WaitFor::Lock);
  rules_ = rules_of("sites:\n  - {name: x, for: timer, match: \"... < shop::f1\"}\n");
  ended(BlockRecord(1'000).in_user({1}));
  EXPECT_EQ(examine()->ended.at(0).wait_for, WaitFor::Timer);
}

TEST_F(WaitExaminerTest, WhatFoundNoRoomIsUnknown) {
  for (std::uint64_t i = 0; i < WaitSums::kMostSums + 2; ++i) {
    ended(BlockRecord(1'000).in_kernel({100 + i}).in_user({1}));
  }
  const auto window = examine();
  ASSERT_EQ(window->ended.size(), 2U);
  EXPECT_EQ(window->ended[1].wait_for, WaitFor::Unknown);
  EXPECT_EQ(window->ended[1].waits.sum_ns, 2'000);
}

}  // namespace
}  // namespace offcpud::test
