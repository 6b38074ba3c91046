// SPDX-License-Identifier: Apache-2.0
#include "sites/wait_chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace offcpud {
namespace {

constexpr EvidenceVerdict kByRule{.wait_for = WaitFor::Answer};

LastingBlock waits_for_child(std::uint32_t pid, std::uint32_t parent) {
  return {.tid = pid,
          .tgid = pid,
          .parent_tgid = parent,
          .awaits = LastingBlock::Awaits::Child,
          .verdict = kByRule};
}

LastingBlock waits(std::uint32_t pid, std::uint32_t parent, WaitFor wait_for, bool certain = true) {
  return {.tid = pid,
          .tgid = pid,
          .parent_tgid = parent,
          .verdict = {.wait_for = wait_for, .certain = certain}};
}

EvidenceVerdict first_of(std::vector<LastingBlock> blocks) {
  follow_chains(blocks);
  return blocks.front().verdict;
}

TEST(ChildWaits, TakeOverWhatTheChildWaitsFor) {
  const LastingBlock shell = waits_for_child(10, 1);
  EXPECT_EQ(first_of({shell, waits(11, 10, WaitFor::Timer)}).wait_for, WaitFor::Timer);
  EXPECT_EQ(first_of({shell, waits(11, 10, WaitFor::Work)}).wait_for, WaitFor::Work);
  EXPECT_EQ(first_of({shell, waits(11, 10, WaitFor::Unknown)}).wait_for, WaitFor::Unknown);
  for (const WaitFor actionable : {WaitFor::Lock, WaitFor::Answer, WaitFor::Storage}) {
    const EvidenceVerdict said = first_of({shell, waits(11, 10, actionable)});
    EXPECT_EQ(said, (EvidenceVerdict{.wait_for = WaitFor::Answer, .certain = true}));
  }
  EXPECT_FALSE(first_of({shell, waits(11, 10, WaitFor::Lock, false)}).certain);
}

// It runs, or waits for moments only.
TEST(ChildWaits, OfAChildThatIsNotThereStayWhatTheyAre) {
  EXPECT_EQ(first_of({waits_for_child(10, 1)}), kByRule);
  EXPECT_EQ(first_of({waits_for_child(10, 1), waits(12, 11, WaitFor::Timer)}), kByRule);
}

TEST(ChildWaits, OfSeveralChildrenOneThatIsStuckCounts) {
  const LastingBlock shell = waits_for_child(10, 1), idle = waits(11, 10, WaitFor::Timer);
  EXPECT_EQ(first_of({shell, idle, waits(12, 10, WaitFor::Work)}).wait_for, WaitFor::Work);
  EXPECT_EQ(first_of({shell, idle, waits(12, 10, WaitFor::Unknown)}).wait_for, WaitFor::Unknown);
  EXPECT_EQ(first_of({shell, idle, waits(12, 10, WaitFor::Lock)}).wait_for, WaitFor::Answer);
}

TEST(ChildWaits, AreFollowedThroughProcessesAndByTheMainThread) {
  const LastingBlock shell = waits_for_child(10, 1), wrapper = waits_for_child(11, 10);
  EXPECT_EQ(first_of({shell, wrapper, waits(12, 11, WaitFor::Work)}).wait_for, WaitFor::Work);
  EXPECT_EQ(first_of({shell, wrapper, waits(12, 11, WaitFor::Storage)}).wait_for, WaitFor::Answer);
}

LastingBlock worker_of(std::uint32_t tgid, std::uint32_t tid, WaitFor wait_for) {
  LastingBlock worker = waits(tid, 10, wait_for);
  worker.tgid = tgid;
  return worker;
}

// The main thread of a program in Go or Java sleeps, whatever its workers do.
TEST(ChildWaits, AreForIdleChildrenOnlyIfNoThreadOfThoseMayBeStuck) {
  const LastingBlock shell = waits_for_child(10, 1), idle = waits(12, 10, WaitFor::Work);
  const auto said = [&](WaitFor worker) {
    return first_of({shell, worker_of(12, 13, worker), idle, worker_of(12, 14, WaitFor::Timer)});
  };
  EXPECT_EQ(said(WaitFor::Timer).wait_for, WaitFor::Work);
  EXPECT_TRUE(said(WaitFor::Timer).certain);
  for (const WaitFor worker : {WaitFor::Lock, WaitFor::Storage, WaitFor::Unknown}) {
    EXPECT_EQ(said(worker), EvidenceVerdict{.wait_for = WaitFor::Unknown});
  }
  const LastingBlock stuck = waits(12, 10, WaitFor::Lock);
  EXPECT_EQ(first_of({shell, stuck, worker_of(12, 13, WaitFor::Unknown)}).wait_for,
            WaitFor::Answer);
}

TEST(ChildWaits, AreForTheLastBlockOfEachThreadOfTheChild) {
  const LastingBlock shell = waits_for_child(10, 1), idle = waits(12, 10, WaitFor::Work);
  const LastingBlock stuck = waits(12, 10, WaitFor::Storage);
  EXPECT_EQ(first_of({shell, idle, stuck}).wait_for, WaitFor::Answer);
  EXPECT_EQ(first_of({shell, stuck, idle}).wait_for, WaitFor::Work);
  EXPECT_EQ(
      first_of({shell, idle, worker_of(12, 13, WaitFor::Lock), worker_of(12, 13, WaitFor::Work)})
          .wait_for,
      WaitFor::Work);
}

TEST(ChildWaits, DoNotGoRoundForEver) {
  EXPECT_EQ(first_of({waits_for_child(10, 11), waits_for_child(11, 10)}).wait_for, WaitFor::Answer);
  std::vector<LastingBlock> chain;
  for (std::uint32_t pid = 100; pid < 20'000; ++pid) chain.push_back(waits_for_child(pid, pid - 1));
  chain.push_back(waits(20'000, 19'999, WaitFor::Work));
  follow_chains(chain);
  EXPECT_EQ(chain[chain.size() - 2].verdict.wait_for, WaitFor::Work);
}

// So many threads, each of which waits for children: of one process, or of as many processes.
std::vector<LastingBlock> threads_and_children(std::uint32_t count, bool one_process) {
  std::vector<LastingBlock> blocks;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t parent = one_process ? 100 : 100 + i;
    LastingBlock thread = waits_for_child(parent, 1);
    thread.tid = 100 + i;
    blocks.push_back(thread);
    blocks.push_back(waits(100'000 + i, parent, WaitFor::Work));
  }
  return blocks;
}

// The shortest of some, since other programs run beside.
std::chrono::nanoseconds time_of(const std::vector<LastingBlock>& blocks) {
  auto shortest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 5; ++i) {
    std::vector<LastingBlock> followed = blocks;
    const auto begin = std::chrono::steady_clock::now();
    follow_chains(followed);
    shortest =
        std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(followed.front().verdict.wait_for, WaitFor::Work);
    EXPECT_EQ(followed[followed.size() - 2].verdict.wait_for, WaitFor::Work);
  }
  return shortest;
}

// Each child for each thread would be 100 million steps.
TEST(ChildWaits, OfAllThreadsOfAProcessLookAtAChildOnce) {
  constexpr std::uint32_t kMany = 10'000;
  const auto one_each = time_of(threads_and_children(kMany, false));
  const auto of_one = time_of(threads_and_children(kMany, true));
  EXPECT_LT(of_one, 8 * one_each);
}

LastingBlock reads_pipe_of(std::uint32_t pid, std::uint32_t holder, bool own = false) {
  return {.tid = pid,
          .tgid = pid,
          .parent_tgid = 1,
          .awaits = LastingBlock::Awaits::Pipe,
          .holder_tgid = holder,
          .is_own_pipe = own};
}

TEST(PipeWaits, AreForWhatTheWriterDoes) {
  const LastingBlock reader = reads_pipe_of(10, 11);
  const auto said = [&](WaitFor writer) { return first_of({reader, waits(11, 1, writer)}); };
  EXPECT_EQ(said(WaitFor::Timer).wait_for, WaitFor::Work);
  EXPECT_EQ(said(WaitFor::Work).wait_for, WaitFor::Work);
  EXPECT_EQ(said(WaitFor::Unknown).wait_for, WaitFor::Unknown);
  EXPECT_EQ(said(WaitFor::Lock), (EvidenceVerdict{.wait_for = WaitFor::Answer, .certain = true}));
  EXPECT_EQ(first_of({reader}).wait_for, WaitFor::Unknown) << "the writer runs, or naps";
}

TEST(PipeWaits, OfAWriterWithAStuckThreadAreUnknown) {
  EXPECT_EQ(first_of({reads_pipe_of(10, 12), waits(12, 1, WaitFor::Work),
                      worker_of(12, 13, WaitFor::Lock)}),
            EvidenceVerdict{.wait_for = WaitFor::Unknown});
}

// `while true; do sleep 1; echo; done | cat`
TEST(PipeWaits, OfAShellThatRunsCommandsAreForItsAnswer) {
  const EvidenceVerdict said =
      first_of({reads_pipe_of(10, 11), waits_for_child(11, 1), waits(12, 11, WaitFor::Timer)});
  EXPECT_EQ(said, EvidenceVerdict{.wait_for = WaitFor::Answer});
}

// x=$(sleep 1; echo): the shell asked for that itself, as for a command whose end it waits for.
TEST(PipeWaits, OfWhatItsOwnChildPrintsAreForWhatThatWaitsFor) {
  const LastingBlock reader = reads_pipe_of(10, 11), child = waits_for_child(11, 10);
  const auto said = [&](WaitFor command) {
    return first_of({reader, child, waits(12, 11, command)});
  };
  EXPECT_EQ(said(WaitFor::Timer), (EvidenceVerdict{.wait_for = WaitFor::Work, .certain = true}));
  EXPECT_EQ(said(WaitFor::Work), (EvidenceVerdict{.wait_for = WaitFor::Work, .certain = true}));
  EXPECT_EQ(said(WaitFor::Lock), (EvidenceVerdict{.wait_for = WaitFor::Answer, .certain = true}));
  EXPECT_EQ(said(WaitFor::Unknown), EvidenceVerdict{.wait_for = WaitFor::Unknown});
  EXPECT_EQ(first_of({reader, child}), EvidenceVerdict{.wait_for = WaitFor::Answer})
      << "the command runs";
}

// Between two commands nothing is known of such a shell.
TEST(PipeWaits, AreForWhatTheyWereForWhileNothingIsKnownOfTheWriter) {
  LastingBlock reader = reads_pipe_of(10, 11);
  reader.earlier = {.wait_for = WaitFor::Answer, .certain = true};
  EXPECT_EQ(first_of({reader}), *reader.earlier);
  EXPECT_EQ(first_of({reader, waits(11, 1, WaitFor::Work)}).wait_for, WaitFor::Work);
  EXPECT_EQ(first_of({reader, waits(11, 1, WaitFor::Unknown)}).wait_for, WaitFor::Unknown);
  EXPECT_EQ(first_of({reads_pipe_of(9, 10), reader}).wait_for, WaitFor::Answer) << "through it";
  reader.verdict.wait_for = WaitFor::Work;
  EXPECT_EQ(first_of({reader}).wait_for, WaitFor::Work) << "wakers have said so";
}

TEST(ChildWaits, OfAChildThatIsNotThereAreNotWhatTheyWere) {
  LastingBlock shell = waits_for_child(10, 1);
  shell.earlier = {.wait_for = WaitFor::Timer, .certain = true};
  EXPECT_EQ(first_of({shell}), kByRule) << "it may compute now";
}

TEST(PipeWaits, SayWhetherAChainWasFollowed) {
  std::vector<LastingBlock> blocks = {reads_pipe_of(10, 11), reads_pipe_of(12, 13),
                                      waits(11, 1, WaitFor::Work)};
  follow_chains(blocks);
  EXPECT_TRUE(blocks[0].is_followed);
  EXPECT_FALSE(blocks[1].is_followed);
}

TEST(PipeWaits, AreFollowedThroughAPipeline) {
  EXPECT_EQ(first_of({reads_pipe_of(10, 11), reads_pipe_of(11, 12), waits(12, 1, WaitFor::Timer)})
                .wait_for,
            WaitFor::Work);
  EXPECT_EQ(first_of({reads_pipe_of(10, 11), reads_pipe_of(11, 12), waits(12, 1, WaitFor::Storage)})
                .wait_for,
            WaitFor::Answer);
}

TEST(PipeWaits, ForOnesOwnThreadsAreForWork) {
  EXPECT_EQ(first_of({reads_pipe_of(10, 0, true)}).wait_for, WaitFor::Work);
  EXPECT_EQ(first_of({reads_pipe_of(10, 0)}).wait_for, WaitFor::Unknown);
  LastingBlock asked = reads_pipe_of(10, 0, true);
  asked.verdict.wait_for = WaitFor::Answer;
  EXPECT_EQ(first_of({asked}).wait_for, WaitFor::Answer) << "wakers have said so";
}

}  // namespace
}  // namespace offcpud
