// SPDX-License-Identifier: Apache-2.0
#include "sampling/block_filter.h"

#include <gtest/gtest.h>

#include "support/sampled_blocks.h"

namespace offcpud {
namespace {

using test::BlockRecord;

bool matches(const BlockFilter& filter, const BlockRecord& record) {
  return filter.matches(record.sample);
}

TEST(BlockFilter, TakesEverythingByDefault) {
  EXPECT_TRUE(matches({}, BlockRecord(0)));
  EXPECT_TRUE(matches({}, BlockRecord(1).flagged(OFFCPUD_SAMPLE_KERNEL_THREAD)));
  EXPECT_TRUE(matches({}, BlockRecord(3'600'000'000'000)));
}

TEST(BlockFilter, TakesOneProcessByItsNumberInTheDaemonsNamespace) {
  BlockRecord record = BlockRecord(1).of(7);
  record.sample.local_tgid = 8;
  EXPECT_TRUE(matches({.pid = 8, .tid = {}, .task_state = {}}, record));
  EXPECT_FALSE(matches({.pid = 7, .tid = {}, .task_state = {}}, record));
  // 0 is no process of that namespace, and not every one.
  EXPECT_FALSE(matches({.pid = 0, .tid = {}, .task_state = {}}, record));
}

TEST(BlockFilter, TakesOneThread) {
  BlockRecord record = BlockRecord(1).of(7);
  record.sample.tid = 9;
  EXPECT_TRUE(matches({.pid = {}, .tid = 9, .task_state = {}}, record));
  EXPECT_FALSE(matches({.pid = {}, .tid = 7, .task_state = {}}, record));
}

TEST(BlockFilter, TakesThreadsOfProgramsOrOfTheKernelOnly) {
  const BlockRecord user = BlockRecord(1);
  const BlockRecord kernel = BlockRecord(1).flagged(OFFCPUD_SAMPLE_KERNEL_THREAD);
  BlockFilter no_kernel, no_user;
  no_kernel.kernel_threads = false;
  no_user.user_threads = false;
  EXPECT_TRUE(matches(no_kernel, user));
  EXPECT_FALSE(matches(no_kernel, kernel));
  EXPECT_FALSE(matches(no_user, user));
  EXPECT_TRUE(matches(no_user, kernel));
}

TEST(BlockFilter, BoundsTheLengthOfTheWholeBlock) {
  BlockFilter filter;
  filter.min_ns = 10;
  filter.max_ns = 20;
  EXPECT_FALSE(matches(filter, BlockRecord(9)));
  EXPECT_TRUE(matches(filter, BlockRecord(10)));
  EXPECT_TRUE(matches(filter, BlockRecord(20)));
  EXPECT_FALSE(matches(filter, BlockRecord(21)));
  // What a walk has credited before is part of its length, and what it stands for is not.
  BlockRecord rest = BlockRecord(15).standing_for(1000);
  rest.sample.ns = 2;
  EXPECT_TRUE(matches(filter, rest));
}

TEST(BlockFilter, TakesBlocksWithOneOfTheStates) {
  BlockRecord record(1);
  record.sample.task_state = 2;  // TASK_UNINTERRUPTIBLE
  const auto states = [](std::uint32_t bits) {
    return BlockFilter{.pid = {}, .tid = {}, .task_state = bits};
  };
  EXPECT_TRUE(matches(states(2), record));
  EXPECT_TRUE(matches(states(3), record));
  EXPECT_FALSE(matches(states(1), record));
  EXPECT_FALSE(matches(states(0), record));  // TASK_RUNNING: none is blocked in it
  record.sample.task_state = 0;              // not known
  EXPECT_FALSE(matches(states(3), record));
}

}  // namespace
}  // namespace offcpud
