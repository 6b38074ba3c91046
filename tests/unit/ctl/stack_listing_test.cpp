// SPDX-License-Identifier: Apache-2.0
#include "ctl/stack_listing.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

// Two stacks, of which one was woken by two; frame 2 is of the kernel, and the second process has a
// name that a terminal would obey.
constexpr const char* kWaitsOfTwoProcesses = R"({
  "columns": ["pid", "comm", "stack", "ns"],
  "rows": [[20, 1, 1, 7000600], [10, 0, 2, 12000], [20, 1, 1, 1000400]],
  "stacks": [[], [0, 1, 2], [2]],
  "frames": [[2, 5, 0], [3, 5, 0], [4, 5, 1]],
  "strings": ["kthread", "ev\u001bil", "main", "read", "ksys_read", ""]})";

TEST(StackListing, InnermostFirstAndTheLongestLast) {
  const auto text = stack_listing(kWaitsOfTwoProcesses, false);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "    ksys_read\n"
            "    -                kthread (10)\n"
            "        12 µs\n\n"
            "    ksys_read\n"
            "    read\n"
            "    main\n"
            "    -                ev\\x1bil (20)\n"
            "        8 ms\n\n");
}

TEST(StackListing, SaysWhatForAndWhere) {
  const auto text = stack_listing(R"({
    "columns": ["pid", "comm", "for", "site", "stack", "ns"],
    "rows": [[20, 0, 2, 3, 1, 7000], [20, 0, 4, 5, 1, 8000], [20, 0, 2, 3, 1, 2000]],
    "stacks": [[], [0]], "frames": [[1, 5, 0]],
    "strings": ["shop", "main", "lock", "shop-\u001bpool", "unknown", ""]})",
                                  false);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "    main\n"
            "    -                shop (20)  unknown\n"
            "        8 µs\n\n"
            "    main\n"
            "    -                shop (20)  lock: shop-\\x1bpool\n"
            "        9 µs\n\n");
}

TEST(StackListing, DelimitsTheKernelFromThePrograms) {
  const auto text = stack_listing(kWaitsOfTwoProcesses, true);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("    ksys_read\n    --\n    read\n"), std::string::npos);
  EXPECT_EQ(text->find("--"), text->rfind("--"));  // none where there is one part only
}

TEST(StackListing, RefusesWhatIsNoSnapshot) {
  for (const char* body : {"", "[]", "{}", R"({"columns": ["ns"], "rows": [[1]]})"}) {
    EXPECT_FALSE(stack_listing(body, false)) << body;
  }
}

TEST(FoldedStacks, LoseTheirDelimiters) {
  EXPECT_EQ(without_delimiters("a;b;-;c 5\nk;-;d 6\n"), "a;b;c 5\nk;d 6\n");
  EXPECT_EQ(without_delimiters("a-;-b 1\n"), "a-;-b 1\n");
  EXPECT_EQ(without_delimiters(""), "");
}

}  // namespace
}  // namespace offcpud
