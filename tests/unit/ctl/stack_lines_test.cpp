// SPDX-License-Identifier: Apache-2.0
#include "ctl/stack_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

using ::testing::ElementsAre;

// Two wakers of one stack, and a thread of the kernel.
constexpr const char* kWaitsForLocks = R"({
  "columns": ["pid", "for", "site", "stack", "ns"],
  "rows": [[7, 0, 1, 0, 2000000000], [7, 2, 3, 1, 2500000], [7, 0, 1, 0, 500000000]],
  "stacks": [[0, 1, 2], [2]],
  "frames": [[4, 3, 0], [5, 3, 0], [6, 3, 1]],
  "strings": ["lock", "mutex", "unknown", "", "main", "pthread_mutex_lock", "futex_wait"]})";

TEST(StackLines, TheLongestFirstAndTheInnermostFunctionFirst) {
  const auto lines = stack_lines(kWaitsForLocks);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines,
              ElementsAre("      2.5 s  lock: mutex                     pthread_mutex_lock < main",
                          "     2.5 ms  unknown                         futex_wait"));
}

TEST(StackLines, WaitsForChildrenAreLeftOut) {
  const auto lines = stack_lines(R"({
    "columns": ["reason", "stack", "ns"], "rows": [[0, 0, 2000000000], [1, 0, 2500000]],
    "stacks": [[0]], "frames": [[2, 3, 0]], "strings": ["child", "lock", "main", ""]})");
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 1U);
  EXPECT_THAT(lines->front(), testing::HasSubstr("2.5 ms"));
}

TEST(StackLines, NoStacksAreNone) {
  EXPECT_TRUE(stack_lines(R"({"columns": [], "rows": []})")->empty());
}

TEST(StackLines, RefusesWhatHasNone) {
  for (const char* json : {"", "[]", "{}", R"({"columns": ["ns"], "rows": [[1]]})",
                           R"({"columns": ["stack", "ns"], "rows": [[9, 1]], "stacks": []})"}) {
    EXPECT_FALSE(stack_lines(json)) << json;
  }
}

}  // namespace
}  // namespace offcpud
