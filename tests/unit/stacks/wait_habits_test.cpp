// SPDX-License-Identifier: Apache-2.0
#include "stacks/wait_habits.h"

#include <gtest/gtest.h>

#include <vector>

#include "offcpud.h"
#include "sample.h"
#include "stacks/interval_chains.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kNetwork = OFFCPUD_BLOCKED_NETWORK, kSleep = OFFCPUD_BLOCKED_SLEEP;

// Blocks of process 1; `peer`: the process, and the thread, that ended them; 0: unknown.
std::vector<ChainedBlock> blocks(std::uint32_t kind, WaitFor wait_for, std::uint32_t peer,
                                 std::uint32_t peer_tid,
                                 std::size_t count = WaitHabits::kLeastSamples) {
  ChainedBlock block{.tid = 1, .tgid = 1, .wait_for = wait_for, .kind = kind, .ender = peer_tid};
  if (peer != 0) {
    block.peer = {.kind = WaitPeer::Kind::Process, .process = {.tgid = peer}, .tid = peer_tid};
  }
  return std::vector<ChainedBlock>(count, block);
}

std::vector<ChainedBlock> operator+(std::vector<ChainedBlock> one,
                                    const std::vector<ChainedBlock>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

TEST(WaitHabits, WhatTheSameThreadEndsIsForTheSame) {
  const WaitHabits habits(blocks(kNetwork, WaitFor::Work, 2, 20) +
                          blocks(kNetwork, WaitFor::Answer, 3, 30) +
                          blocks(kSleep, WaitFor::Timer, 0, 0));
  EXPECT_EQ(habits.of(1, kNetwork, 20).wait_for, WaitFor::Work);
  EXPECT_EQ(habits.of(1, kNetwork, 30).wait_for, WaitFor::Answer);
  EXPECT_EQ(habits.of(1, kNetwork, 30).peer.process.tgid, 3U);
  EXPECT_EQ(habits.of(1, kNetwork, 30).peer.tid, 30U);
  EXPECT_EQ(habits.of(1, kSleep, 0).wait_for, WaitFor::Timer);
}

// A server that sleeps a little for each request is seldom sampled in its sleep.
TEST(WaitHabits, ASleepThatAnInterruptEndedIsForATimerWithoutAnySample) {
  constexpr std::uint32_t kByInterrupt = 20 | OFFCPUD_PAST_INTERRUPT;
  const WaitHabits none({});
  EXPECT_EQ(none.of(1, kSleep, kByInterrupt).wait_for, WaitFor::Timer);
  EXPECT_EQ(none.of(1, kSleep, 0).wait_for, WaitFor::Timer) << "on an idle CPU";
  EXPECT_EQ(none.of(1, kSleep, 20).wait_for, WaitFor::Unknown) << "a signal may have ended it";
  EXPECT_EQ(none.of(1, kNetwork, kByInterrupt).wait_for, WaitFor::Unknown);
  const auto few = blocks(kSleep, WaitFor::Work, 0, 0, WaitHabits::kLeastSamples - 1);
  EXPECT_EQ(WaitHabits(few).of(1, kSleep, kByInterrupt).wait_for, WaitFor::Timer);
  EXPECT_EQ(WaitHabits(blocks(kSleep, WaitFor::Work, 0, 0)).of(1, kSleep, kByInterrupt).wait_for,
            WaitFor::Work)
      << "as a runtime's own threads do";
}

TEST(WaitHabits, AThreadThatIsNewEndsWhatAllOthersEnd) {
  const WaitHabits habits(blocks(kNetwork, WaitFor::Answer, 3, 30) +
                          blocks(kNetwork, WaitFor::Answer, 3, 31));
  const WaitHabits::Habit habit = habits.of(1, kNetwork, 32);
  EXPECT_EQ(habit.wait_for, WaitFor::Answer);
  EXPECT_EQ(habit.peer.process.tgid, 3U);
  EXPECT_EQ(habit.peer.tid, 0U) << "it need not be a thread of that process";
}

// Whatever thread a network card's interrupt hits, the wait was for another host.
TEST(WaitHabits, WhoWasMerelyCurrentIsNoPeer) {
  std::vector<ChainedBlock> remote = blocks(kNetwork, WaitFor::Answer, 0, 0);
  for (ChainedBlock& block : remote) {
    block.peer.kind = WaitPeer::Kind::Remote;
    block.ender = 20 | OFFCPUD_PAST_INTERRUPT;
  }
  const WaitHabits habits(remote + blocks(kNetwork, WaitFor::Work, 2, 20));
  EXPECT_EQ(habits.of(1, kNetwork, 20 | OFFCPUD_PAST_INTERRUPT).peer.kind, WaitPeer::Kind::Remote);
  EXPECT_EQ(habits.of(1, kNetwork, 20).peer.process.tgid, 2U);
}

TEST(WaitHabits, WherePeersDifferItIsForTheSameAllTheSame) {
  std::vector<ChainedBlock> many;
  for (std::uint32_t pid = 2; pid < 12; ++pid) {
    many = many + blocks(kNetwork, WaitFor::Work, pid, pid, 1);
  }
  const WaitHabits::Habit habit = WaitHabits(many).of(1, kNetwork, 99);
  EXPECT_EQ(habit.wait_for, WaitFor::Work);
  EXPECT_EQ(habit.peer.kind, WaitPeer::Kind::Unknown);
}

TEST(WaitHabits, SeveralHabitsAreNone) {
  const WaitHabits habits(blocks(kNetwork, WaitFor::Work, 2, 20) +
                          blocks(kNetwork, WaitFor::Answer, 3, 30));
  EXPECT_EQ(habits.of(1, kNetwork, 99).wait_for, WaitFor::Unknown);
  EXPECT_EQ(habits.of(1, kSleep, 20).wait_for, WaitFor::Unknown);
  EXPECT_EQ(habits.of(2, kNetwork, 20).wait_for, WaitFor::Unknown) << "another process";
}

TEST(WaitHabits, FewSamplesAreNoHabit) {
  const auto few = blocks(kNetwork, WaitFor::Answer, 3, 30, WaitHabits::kLeastSamples - 1);
  EXPECT_EQ(WaitHabits(few).of(1, kNetwork, 30).wait_for, WaitFor::Unknown);
}

// Fifty long ones are all in the sample; of as many short ones two are, which stand for all.
TEST(WaitHabits, SamplesCountForWhatTheyStandFor) {
  auto all = blocks(kNetwork, WaitFor::Work, 2, 20, 50);
  auto few = blocks(kNetwork, WaitFor::Answer, 3, 30, 2);
  for (ChainedBlock& block : few) block.stands_for = 25;
  EXPECT_EQ(WaitHabits(all + few).of(1, kNetwork, 99).wait_for, WaitFor::Unknown);
  for (ChainedBlock& block : few) block.stands_for = 1;
  EXPECT_EQ(WaitHabits(all + few).of(1, kNetwork, 99).wait_for, WaitFor::Work);
}

}  // namespace
}  // namespace offcpud
