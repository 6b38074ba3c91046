// SPDX-License-Identifier: Apache-2.0
#include "stacks/stack_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "support/sampled_blocks.h"

namespace offcpud {
namespace {

using test::BlockRecord;
using testing::ElementsAre;

BlockRecord usual() {
  return BlockRecord(1000)
      .woken_by(OFFCPUD_FROM_SAME_CGROUP, 200, "waker")
      .in_kernel({1, 2})
      .in_user({3, 4})
      .woken_in({5}, {6});
}

StackSums::Drained sum_of(const std::vector<BlockRecord>& records, std::size_t most = 1000) {
  StackSums stacks(most);
  for (const BlockRecord& record : records) stacks.add(record.block());
  return stacks.drain();
}

TEST(StackSums, AddsEqualBlocksUp) {
  BlockRecord later = usual();
  later.sample.tid = 101;  // another thread of the process, by the same name
  later.sample.since_ns = 5;
  later.sample.waker_tid = 201;
  const auto drained = sum_of({usual(), later.standing_for(3000)});
  ASSERT_EQ(drained.sums.size(), 1U);
  EXPECT_EQ(drained.sums[0].ns, 4000U);
  EXPECT_DOUBLE_EQ(drained.sums[0].episodes, 4);
  EXPECT_EQ(drained.sums[0].sample.tid, 100U);  // the first one's
}

// Who waited for whom; a block counts for its length, or what it stands for if that is more.
TEST(StackSums, KnowsItsThreadsAndTheirWakers) {
  BlockRecord other = usual();
  other.sample.tid = 101;
  BlockRecord long_one = usual();
  long_one.sample.ended_ns = long_one.sample.since_ns + 5'000'000'000;
  const auto drained = sum_of({usual(), other, usual().standing_for(3000), long_one});
  ASSERT_EQ(drained.sums.size(), 1U);
  const auto& pairs = drained.sums[0].pairs;
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].tid, 100U);
  EXPECT_EQ(pairs[0].waker_tid, 200U);
  EXPECT_EQ(pairs[0].samples, 3U);
  EXPECT_DOUBLE_EQ(pairs[0].ns, 1000.0 + 3000 + 1e9);  // a second of it at most
  EXPECT_DOUBLE_EQ(pairs[0].episodes, 1 + 3 + 1);
  EXPECT_EQ(pairs[1].tid, 101U);
  EXPECT_EQ(pairs[1].samples, 1U);
}

TEST(StackSums, KnowsNoWakerOfABlockThatLasts) {
  const auto drained = sum_of({usual().flagged(OFFCPUD_SAMPLE_IN_PROGRESS)});
  ASSERT_EQ(drained.sums.size(), 1U);
  ASSERT_EQ(drained.sums[0].pairs.size(), 1U);
  EXPECT_EQ(drained.sums[0].pairs[0].waker_tid, 0U);
}

TEST(StackSums, CountsThePairsThatItHasNoRoomFor) {
  StackSums stacks(1000);
  for (std::uint32_t tid = 0; tid < StackSums::kMostPairs + 7; ++tid) {
    BlockRecord record = usual();
    record.sample.tid = tid;
    stacks.add(record.block());
  }
  const auto drained = stacks.drain();
  ASSERT_EQ(drained.sums.size(), 1U);
  EXPECT_EQ(drained.sums[0].pairs.size(), StackSums::kMostPairs);
  EXPECT_EQ(drained.sums[0].pairs_left_out, 7U);
}

// Of 1,000 ns that stand for 3,000: 3,000 (3,000 - 1,000). What is certain adds nothing.
TEST(StackSums, KnowsHowFarItsSumsAreLeftToChance) {
  const auto drained = sum_of({usual(), usual().standing_for(3000), usual().standing_for(3000)});
  ASSERT_EQ(drained.sums.size(), 1U);
  EXPECT_DOUBLE_EQ(drained.sums[0].variance, 2 * 3000.0 * 2000.0);
}

TEST(StackSums, KeepsApartWhatDiffersInOneThing) {
  const std::map<std::string, std::function<void(BlockRecord&)>> changes = {
      {"process", [](auto& block) { block.sample.tgid = 7; }},
      {"another process of the same number",
       [](auto& block) { block.sample.process_start_ns = 7; }},
      {"cgroup", [](auto& block) { block.in_cgroup(7); }},
      {"reason", [](auto& block) { block.sample.kind = OFFCPUD_BLOCKED_PIPE; }},
      {"end of the walk", [](auto& block) { block.ended_by(OFFCPUD_UNWIND_END_READ); }},
      {"in progress", [](auto& block) { block.flagged(OFFCPUD_SAMPLE_IN_PROGRESS); }},
      {"thread name", [](auto& block) { block.named("other"); }},
      {"end of the thread name", [](auto& block) { block.named("thread-000000/1"); }},
      {"process name", [](auto& block) { block.of_process_named("other"); }},
      {"end of the process name", [](auto& block) { block.of_process_named("process-00000/1"); }},
      {"kind of waker", [](auto& block) { block.sample.waker = OFFCPUD_FROM_KERNEL; }},
      {"waking process", [](auto& block) { block.sample.waker_tgid = 7; }},
      {"waker's name", [](auto& block) { block.woken_by(OFFCPUD_FROM_SAME_CGROUP, 200, "other"); }},
      {"end of the waker's name",
       [](auto& block) { block.woken_by(OFFCPUD_FROM_SAME_CGROUP, 200, "waker-0000000/1"); }},
      {"kernel frame", [](auto& block) { block.kernel[1] = 7; }},
      {"user frame", [](auto& block) { block.user[0] = 7; }},
      {"waker's kernel frame", [](auto& block) { block.waker_kernel[0] = 7; }},
      {"waker's user frame", [](auto& block) { block.waker_user[0] = 7; }},
  };
  // Names whose first eight bytes are equal.
  const auto base = usual()
                        .named("thread-000000/0")
                        .of_process_named("process-00000/0")
                        .woken_by(OFFCPUD_FROM_SAME_CGROUP, 200, "waker-0000000/0");
  for (const auto& [what, change] : changes) {
    BlockRecord other = base;
    change(other);
    EXPECT_EQ(sum_of({base, other, base}).sums.size(), 2U) << what;
  }
}

TEST(StackSums, TellsWhereOneStackEndsAndTheNextBegins) {
  const auto drained = sum_of(
      {BlockRecord(1).in_kernel({1, 2, 3}), BlockRecord(2).in_user({1, 2, 3}),
       BlockRecord(4).in_kernel({1}).in_user({2, 3}), BlockRecord(8).in_user({1}).woken_in({2, 3}),
       BlockRecord(16).in_user({1}).woken_in({2}, {3})});
  EXPECT_EQ(drained.sums.size(), 5U);
}

TEST(StackSums, GivesTheStacksOfASumBack) {
  const auto drained = sum_of({usual()});
  ASSERT_EQ(drained.sums.size(), 1U);
  const SampledBlock block = drained.sums[0].block();
  EXPECT_THAT(block.kernel, ElementsAre(1, 2));
  EXPECT_THAT(block.user, ElementsAre(3, 4));
  EXPECT_THAT(block.waker_kernel, ElementsAre(5));
  EXPECT_THAT(block.waker_user, ElementsAre(6));
}

TEST(StackSums, CountsEpisodesOfBlocksThatHaveEndedOnly) {
  const auto in_progress = usual().flagged(OFFCPUD_SAMPLE_IN_PROGRESS).standing_for(700);
  // A block of a thousandth of the interval stands for a thousand of them.
  const auto drained = sum_of({usual().standing_for(1'000'000), in_progress, in_progress});
  ASSERT_EQ(drained.sums.size(), 2U);
  for (const BlockSum& sum : drained.sums) {
    const bool lasts = (sum.sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS) != 0;
    EXPECT_EQ(sum.ns, lasts ? 1400U : 1'000'000U);
    EXPECT_DOUBLE_EQ(sum.episodes, lasts ? 0 : 1000);
  }
}

TEST(StackSums, ABlockOfNoLengthIsNoEpisode) {
  const auto drained = sum_of({BlockRecord(0).standing_for(10)});
  EXPECT_DOUBLE_EQ(drained.sums.at(0).episodes, 0);
  EXPECT_EQ(drained.sums.at(0).ns, 10U);
}

TEST(StackSums, HandsOutASumOnceToBeLocated) {
  StackSums stacks(1);
  const BlockRecord first = usual(), second = usual().in_user({9});
  BlockSum* const sum = stacks.add(first.block());
  ASSERT_NE(sum, nullptr);
  sum->user.emplace_back().address = 33;
  EXPECT_EQ(stacks.add(first.block()), nullptr);
  EXPECT_EQ(stacks.add(second.block()), nullptr);  // not kept
  EXPECT_EQ(stacks.drain().sums.at(0).user.at(0).address, 33U);
}

TEST(StackSums, KeepsTheTimeOfStacksBeyondTheMost) {
  const auto drained = sum_of({usual(), usual().in_user({8}), usual().in_user({9}).standing_for(5),
                               usual().in_user({9}).standing_for(6), usual()},
                              2);
  EXPECT_EQ(drained.sums.size(), 2U);
  EXPECT_EQ(drained.overflow_ns, 11U);
  EXPECT_EQ(drained.overflowed, 2U);
}

TEST(StackSums, BeginsAnewAfterACut) {
  StackSums stacks(1);
  const BlockRecord first = usual(), second = usual().in_user({9});
  stacks.add(first.block());
  stacks.add(second.block());
  EXPECT_EQ(stacks.drain().overflowed, 1U);
  const auto empty = stacks.drain();
  EXPECT_TRUE(empty.sums.empty());
  EXPECT_EQ(empty.overflow_ns, 0U);
  EXPECT_EQ(empty.overflowed, 0U);
  EXPECT_NE(stacks.add(second.block()), nullptr);
  EXPECT_EQ(stacks.drain().sums.at(0).ns, 1000U);
}

// Few different values, so that blocks often are equal.
BlockRecord random_block(std::mt19937& random) {
  const auto below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  const auto frames = [&] {
    BlockRecord::Frames stack(below(3));
    for (auto& frame : stack) frame = below(2);
    return stack;
  };
  BlockRecord record(1 + below(1'000'000));
  record.of(1 + below(2)).in_cgroup(below(2)).standing_for(1 + below(1'000'000));
  if (below(4) == 0) record.flagged(OFFCPUD_SAMPLE_IN_PROGRESS);
  return record.in_kernel(frames()).in_user(frames()).woken_in(frames(), frames());
}

// Against sums by everything that random_block() varies.
TEST(StackSums, LosesNoTimeOfRandomBlocks) {
  std::mt19937 random(1);
  for (const std::size_t most : {std::size_t{20}, std::size_t{100'000}}) {
    StackSums stacks(most);
    using Place = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, BlockRecord::Frames,
                             BlockRecord::Frames, BlockRecord::Frames, BlockRecord::Frames>;
    std::map<Place, std::uint64_t> expected;
    std::uint64_t given_ns = 0;
    for (int i = 0; i < 20'000; ++i) {
      const BlockRecord record = random_block(random);
      const offcpud_sample& sample = record.sample;
      stacks.add(record.block());
      given_ns += sample.weight_ns;
      expected[{sample.tgid, sample.cgroup_id, sample.flags, record.kernel, record.user,
                record.waker_kernel, record.waker_user}] += sample.weight_ns;
    }
    const auto drained = stacks.drain();
    EXPECT_EQ(drained.sums.size(), std::min(most, expected.size()));
    std::uint64_t kept_ns = drained.overflow_ns;
    for (const BlockSum& sum : drained.sums) {
      kept_ns += sum.ns;
      const SampledBlock block = sum.block();
      const auto copy = [](std::span<const __u64> frames) {
        return BlockRecord::Frames(frames.begin(), frames.end());
      };
      const Place place{sum.sample.tgid,       sum.sample.cgroup_id, sum.sample.flags,
                        copy(block.kernel),    copy(block.user),     copy(block.waker_kernel),
                        copy(block.waker_user)};
      EXPECT_EQ(sum.ns, expected.at(place));
    }
    EXPECT_EQ(kept_ns, given_ns);
    EXPECT_EQ(drained.overflow_ns != 0, most == 20);
  }
}

TEST(SampledBlock, CutsOffWhatARecordSaysBeyondItsEnd) {
  offcpud_sample sample{};
  sample.kernel_frames = 2;
  sample.user_frames = 60'000;
  sample.waker_kernel_frames = 1;
  const std::array<__u64, 3> frames{1, 2, 3};
  const SampledBlock block = sampled_block(sample, {}, frames);
  EXPECT_THAT(block.kernel, ElementsAre(1, 2));
  EXPECT_THAT(block.user, ElementsAre(3));
  EXPECT_TRUE(block.waker_kernel.empty());
  EXPECT_TRUE(block.waker_user.empty());
}

TEST(KeptSample, OutlivesTheRecordAsItWasRead) {
  offcpud_sample sample{};
  sample.tgid = 7;
  sample.kernel_frames = 2;
  sample.user_frames = 1;
  sample.waker_kernel_frames = 1;
  sample.waker_user_frames = 60'000;
  std::array<__u64, 6> frames{1, 2, 3, 4, 5, 6};
  const KeptSample kept(sampled_block(sample, {}, frames));
  frames.fill(0);
  const SampledBlock block = kept.block();
  EXPECT_EQ(block.sample.tgid, 7U);
  EXPECT_THAT(block.kernel, ElementsAre(1, 2));
  EXPECT_THAT(block.user, ElementsAre(3));
  EXPECT_THAT(block.waker_kernel, ElementsAre(4));
  EXPECT_THAT(block.waker_user, ElementsAre(5, 6));
}

// Several windows, and those whose names are being looked up, share one budget of bytes.
TEST(StackSums, BeyondItsBytesKeepsTheTimeWithoutStacks) {
  const auto budget = std::make_shared<ByteBudget>(64 << 10);
  StackSums first(1000, budget), second(1000, budget);
  for (__u64 at = 0; at < 1000; ++at) first.add(BlockRecord(10).in_user({at, at, at}).block());
  second.add(BlockRecord(10).in_user({7, 7, 7}).block());
  auto drained = first.drain();
  EXPECT_GT(drained.sums.size(), 50U);
  EXPECT_LT(drained.sums.size(), 200U);
  EXPECT_EQ(drained.overflowed, 1000 - drained.sums.size());
  EXPECT_EQ(drained.overflow_ns, 10 * drained.overflowed);
  EXPECT_EQ(second.drain().overflowed, 1U);
  EXPECT_GE(budget->left() + drained.bytes.taken(), 64U << 10);
  drained = {};
  EXPECT_EQ(budget->left(), 64U << 10);
  first.add(BlockRecord(10).block());
  EXPECT_EQ(first.drain().sums.size(), 1U);
}

}  // namespace
}  // namespace offcpud
