// SPDX-License-Identifier: Apache-2.0
#include "stacks/wait_habits.h"

#include <gtest/gtest.h>

#include <vector>

#include "offcpud.h"
#include "stacks/interval_chains.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kNetwork = OFFCPUD_BLOCKED_NETWORK, kSleep = OFFCPUD_BLOCKED_SLEEP;

// A block of process 1; `peer`: the process, and the thread, that ended it; 0: unknown.
ChainedBlock block(std::uint32_t kind, WaitFor wait_for, std::uint32_t peer,
                   std::uint32_t peer_tid) {
  ChainedBlock block{.tid = 1, .tgid = 1, .wait_for = wait_for, .kind = kind};
  if (peer != 0) {
    block.peer = {.kind = WaitPeer::Kind::Process, .process = {.tgid = peer}, .tid = peer_tid};
  }
  return block;
}

TEST(WaitHabits, WhatTheSameThreadEndsIsForTheSame) {
  const WaitHabits habits(std::vector{block(kNetwork, WaitFor::Work, 2, 20),
                                      block(kNetwork, WaitFor::Answer, 3, 30),
                                      block(kSleep, WaitFor::Timer, 0, 0)});
  EXPECT_EQ(habits.of(1, kNetwork, 20).wait_for, WaitFor::Work);
  EXPECT_EQ(habits.of(1, kNetwork, 30).wait_for, WaitFor::Answer);
  EXPECT_EQ(habits.of(1, kNetwork, 30).peer.process.tgid, 3U);
  EXPECT_EQ(habits.of(1, kNetwork, 30).peer.tid, 30U);
  EXPECT_EQ(habits.of(1, kSleep, 0).wait_for, WaitFor::Timer);
}

TEST(WaitHabits, AThreadThatIsNewEndsWhatAllOthersEnd) {
  const WaitHabits habits(std::vector{block(kNetwork, WaitFor::Answer, 3, 30),
                                      block(kNetwork, WaitFor::Answer, 3, 31)});
  const WaitHabits::Habit habit = habits.of(1, kNetwork, 32);
  EXPECT_EQ(habit.wait_for, WaitFor::Answer);
  EXPECT_EQ(habit.peer.process.tgid, 3U);
  EXPECT_EQ(habit.peer.tid, 0U) << "it need not be a thread of that process";
}

TEST(WaitHabits, WherePeersDifferItIsForTheSameAllTheSame) {
  std::vector<ChainedBlock> blocks;
  for (std::uint32_t pid = 2; pid < 12; ++pid) {
    blocks.push_back(block(kNetwork, WaitFor::Work, pid, pid));
  }
  const WaitHabits::Habit habit = WaitHabits(blocks).of(1, kNetwork, 99);
  EXPECT_EQ(habit.wait_for, WaitFor::Work);
  EXPECT_EQ(habit.peer.kind, WaitPeer::Kind::Unknown);
}

TEST(WaitHabits, SeveralHabitsAreNone) {
  const WaitHabits habits(
      std::vector{block(kNetwork, WaitFor::Work, 2, 20), block(kNetwork, WaitFor::Answer, 3, 30)});
  EXPECT_EQ(habits.of(1, kNetwork, 99).wait_for, WaitFor::Unknown);
  EXPECT_EQ(habits.of(1, kSleep, 20).wait_for, WaitFor::Unknown);
  EXPECT_EQ(habits.of(2, kNetwork, 20).wait_for, WaitFor::Unknown) << "another process";
}

TEST(WaitHabits, OneOfTenMayDiffer) {
  std::vector<ChainedBlock> blocks(9, block(kNetwork, WaitFor::Answer, 3, 30));
  blocks.push_back(block(kNetwork, WaitFor::Unknown, 0, 0));
  EXPECT_EQ(WaitHabits(blocks).of(1, kNetwork, 99).wait_for, WaitFor::Answer);
  blocks.push_back(block(kNetwork, WaitFor::Unknown, 0, 0));
  EXPECT_EQ(WaitHabits(blocks).of(1, kNetwork, 99).wait_for, WaitFor::Unknown);
}

}  // namespace
}  // namespace offcpud
