// SPDX-License-Identifier: Apache-2.0
#include "stacks/past_blocks.h"

#include <gtest/gtest.h>

#include <array>

namespace offcpud {
namespace {

constexpr std::uint64_t kUnit = 1 << OFFCPUD_PAST_UNIT;

WaitPeer peer(std::uint32_t tid) {
  return {.kind = WaitPeer::Kind::Process, .process = {.tgid = 7}, .tid = tid};
}

offcpud_past_block record(std::uint64_t ended_ns, std::uint32_t units, std::uint32_t tid) {
  return {.ended_ns = ended_ns,
          .length = units,
          .skipped = 3,
          .who = tid | std::uint32_t{OFFCPUD_BLOCKED_LOCK} << OFFCPUD_PAST_KIND};
}

std::array<offcpud_past, 2> two_threads() {
  std::array<offcpud_past, 2> past{};
  past[0] = {.tid = 70, .tgid = 7, .blocks = {}};
  past[0].blocks[1] = record(9'000'000, 100, 80);
  past[0].blocks[4] = record(5'000'000, 200, 0);
  past[1] = {.tid = 60, .tgid = 6, .blocks = {}};
  past[1].blocks[0] = record(4'000'000, 1, 70);
  return past;
}

TEST(PastBlocks, AreByThreadAndEnd) {
  const auto blocks = past_blocks_of(peer(70), two_threads(), 0);
  ASSERT_NE(blocks, nullptr);
  ASSERT_EQ(blocks->size(), 3U);
  const auto own = past_of_thread(*blocks, 70, 7);
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0].ended_ns, 5'000'000U);
  EXPECT_EQ(own[0].since_ns, 5'000'000U - 200 * kUnit);
  EXPECT_EQ(own[0].ender, 0U);
  EXPECT_EQ(own[1].ended_ns, 9'000'000U);
  EXPECT_EQ(own[1].ender, 80U);
  EXPECT_EQ(own[1].skipped_ns, 3 * kUnit);
  EXPECT_EQ(own[1].kind, std::uint32_t{OFFCPUD_BLOCKED_LOCK});
  EXPECT_EQ(past_of_thread(*blocks, 60, 6).size(), 1U);
  EXPECT_TRUE(past_of_thread(*blocks, 60, 7).empty()) << "a number that was given out again";
  EXPECT_TRUE(past_of_thread(*blocks, 80, 8).empty());
}

TEST(PastBlocks, OfAnotherThreadThanThePeerTellNothing) {
  EXPECT_EQ(past_blocks_of(peer(71), two_threads(), 0), nullptr);
  EXPECT_EQ(past_blocks_of(peer(0), two_threads(), 0), nullptr);
  EXPECT_EQ(past_blocks_of({}, two_threads(), 0), nullptr);
  EXPECT_EQ(past_blocks_of(peer(70), {}, 0), nullptr);
  EXPECT_EQ(past_blocks_of(peer(0), std::array<offcpud_past, 1>{}, 0), nullptr);
}

// Of what was over before the wait, each thread's last block says that its account reaches back.
TEST(PastBlocks, OfOldOnesTheLastIsKept) {
  const auto blocks = past_blocks_of(peer(70), two_threads(), 9'000'000);
  ASSERT_EQ(blocks->size(), 2U);
  EXPECT_EQ((*blocks)[0].tid, 60U);
  EXPECT_EQ((*blocks)[1].ended_ns, 9'000'000U);
}

// The counter goes round after 73 minutes of waits.
TEST(PastBlocks, SayHowLongTheThreadWaitedForACpuInBetween) {
  std::array<offcpud_past, 2> past = two_threads();
  past[0].blocks[1].queued = 5;    // the second one
  past[0].blocks[4].queued = ~2U;  // the first one
  past[0].until_ns = 9'500'000;
  past[0].queued = 45;
  past[0].skipped = 2;
  past[1].until_ns = 1;
  const auto blocks = past_blocks_of(peer(70), past, 0);
  const auto own = past_of_thread(*blocks, 70, 7);
  ASSERT_EQ(own.size(), 3U);
  EXPECT_EQ(own[0].queued_ns, 0U) << "nobody knows of what came before";
  EXPECT_EQ(own[1].queued_ns, 8 * kUnit);
  EXPECT_EQ(own[2].since_ns, 9'500'000U) << "no block, but it is known until then";
  EXPECT_EQ(own[2].ended_ns, 9'500'000U);
  EXPECT_EQ(own[2].queued_ns, 40 * kUnit);
  EXPECT_EQ(own[2].skipped_ns, 2 * kUnit);
  EXPECT_EQ(past_of_thread(*blocks, 60, 6).size(), 1U) << "it was read before the block ended";
}

TEST(PastBlocks, SayWhetherAnInterruptEndedThem) {
  EXPECT_EQ(ender_of({}, {}), 0U);
  offcpud_peer current{};
  current.tid = 7;
  EXPECT_EQ(ender_of({}, current), 7U | OFFCPUD_PAST_INTERRUPT);
  current.flags = OFFCPUD_PEER_ENDED;
  EXPECT_EQ(ender_of({.waker_tid = 7}, current), 7U);
}

// Kernel threads are nobody's peers, and who was current at an interrupt of an idle CPU is nobody.
TEST(PastBlocks, NameTheSameEnderAsASampleOfTheSameBlock) {
  EXPECT_EQ(ender_of({.waker_tid = 80}, {}), 80U);
  std::array<offcpud_past, 1> past{};
  past[0] = {.tid = 70, .tgid = 7, .blocks = {}};
  past[0].blocks[0] = record(9'000'000, 100, 80);
  past[0].blocks[1] = record(5'000'000, 200, OFFCPUD_PAST_INTERRUPT);
  const auto blocks = past_blocks_of(peer(70), past, 0);
  ASSERT_EQ(blocks->size(), 2U);
  EXPECT_EQ((*blocks)[0].ender, 0U);
  EXPECT_EQ((*blocks)[1].ender, 80U);
}

TEST(PastBlocks, NoneBeginsBeforeTimeDoes) {
  std::array<offcpud_past, 1> past{};
  past[0] = {.tid = 70, .tgid = 7, .blocks = {}};
  past[0].blocks[0] = record(5, ~0U, 0);
  EXPECT_EQ(past_blocks_of(peer(70), past, 0)->front().since_ns, 0U);
}

}  // namespace
}  // namespace offcpud
