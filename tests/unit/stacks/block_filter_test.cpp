// SPDX-License-Identifier: Apache-2.0
#include "stacks/block_filter.h"

#include <gtest/gtest.h>

#include "support/sampled_blocks.h"

namespace offcpud {
namespace {

using test::BlockRecord;

bool matches(const BlockFilter& filter, const BlockRecord& record) {
  return filter.matches(record.sample);
}

BlockFilter only_pid(std::uint32_t pid) {
  BlockFilter filter;
  filter.pid = pid;
  return filter;
}

BlockFilter only_tid(std::uint32_t tid) {
  BlockFilter filter;
  filter.tid = tid;
  return filter;
}

TEST(BlockFilter, TakesEverythingByDefault) {
  EXPECT_TRUE(matches({}, BlockRecord(0)));
  EXPECT_TRUE(matches({}, BlockRecord(1).flagged(OFFCPUD_SAMPLE_KERNEL_THREAD)));
  EXPECT_TRUE(matches({}, BlockRecord(3'600'000'000'000)));
}

TEST(BlockFilter, TakesOneProcessByItsNumberInTheDaemonsNamespace) {
  BlockRecord record = BlockRecord(1).of(7);
  record.sample.local_tgid = 8;
  EXPECT_TRUE(matches(only_pid(8), record));
  EXPECT_FALSE(matches(only_pid(7), record));
  // 0 is no process of that namespace, and not every one.
  EXPECT_FALSE(matches(only_pid(0), record));
}

TEST(BlockFilter, TakesBlocksOfSomeReasons) {
  BlockRecord record(1);
  record.sample.kind = OFFCPUD_BLOCKED_LOCK;
  BlockFilter filter;
  filter.kinds = 1U << OFFCPUD_BLOCKED_LOCK;
  EXPECT_TRUE(matches(filter, record));
  record.sample.kind = OFFCPUD_BLOCKED_DISK;
  EXPECT_FALSE(matches(filter, record));
}

TEST(BlockFilter, TakesOneThread) {
  BlockRecord record = BlockRecord(1).of(7);
  record.sample.local_tid = 9;
  EXPECT_TRUE(matches(only_tid(9), record));
  EXPECT_FALSE(matches(only_tid(7), record));
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
    BlockFilter filter;
    filter.task_state = bits;
    return filter;
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
