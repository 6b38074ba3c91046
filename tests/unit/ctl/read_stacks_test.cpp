// SPDX-License-Identifier: Apache-2.0
#include "ctl/read_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "offcpud.h"

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Frames = std::vector<ReadFrame>;

std::vector<ReadStack> read(const std::string& text) {
  const auto stacks = read_stacks(text);
  EXPECT_TRUE(stacks) << stacks.error().message();
  return stacks ? *stacks : std::vector<ReadStack>();
}

TEST(ReadStacks, FoldedTextAsTheDaemonWritesIt) {
  const auto stacks = read(
      "my app;main;main::{lambda()#1};read;-;ksys_read_[k];wait_[k] 1234\n"
      "\n"
      "kthread;worker_[k];loop_[k] 7\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].exe, "my app");
  EXPECT_FALSE(stacks[0].reason);
  EXPECT_EQ(stacks[0].user, (Frames{{"main", ""}, {"main::{lambda()#1}", ""}, {"read", ""}}));
  EXPECT_EQ(stacks[0].kernel, (Frames{{"ksys_read", ""}, {"wait", ""}}));
  EXPECT_EQ(stacks[0].us, 1234U);
  EXPECT_EQ(stacks[1].line, 3U);
  EXPECT_TRUE(stacks[1].user.empty());
}

TEST(ReadStacks, FoldedTextWithoutMarksAndWithWakers) {
  const auto stacks = read("app;main;-;ksys_read;wait;--;wake;-;other;waker 5\n");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].user, (Frames{{"main", ""}}));
  EXPECT_EQ(stacks[0].kernel, (Frames{{"ksys_read", ""}, {"wait", ""}}));
}

TEST(ReadStacks, FoldedTextWithReasonsAndObjects) {
  const auto stacks = read(
      "work;redis;idle;condvar|redis-server;_start{redis};"
      "f::{lambda()#1}{redis};libc.so.6!fn_local;do_futex_[k] 10\n"
      "poll|app;main{app} 11\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].label, "work");
  EXPECT_EQ(stacks[0].exe, "redis-server");
  EXPECT_EQ(stacks[0].reason, OFFCPUD_BLOCKED_CONDVAR);
  EXPECT_EQ(
      stacks[0].user,
      (Frames{{"_start", "redis"}, {"f::{lambda()#1}", "redis"}, {"libc.so.6!fn_local", ""}}));
  EXPECT_EQ(stacks[1].label, "");
  EXPECT_EQ(stacks[1].exe, "app");
  EXPECT_EQ(stacks[1].reason, OFFCPUD_BLOCKED_POLL);
}

TEST(ReadStacks, ABarInANameIsNoReason) {
  EXPECT_EQ(read("a|b;main 1").front().exe, "a|b");
  EXPECT_FALSE(read("a|b;main 1").front().reason);
  EXPECT_EQ(read("x;y;z;poll|main 1").front().exe, "x");  // x is no label
}

TEST(ReadStacks, Json) {
  const auto stacks = read(R"({"columns": ["comm", "reason", "stack", "ns"],
      "rows": [[0, 1, 1, 7000600]], "stacks": [[], [0, 1]], "frames": [[2, 4, 0], [3, 5, 1]],
      "strings": ["app", "poll", "read", "ksys_read", "libc.so.6", "[kernel]"]})");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].exe, "app");
  EXPECT_EQ(stacks[0].reason, OFFCPUD_BLOCKED_POLL);
  EXPECT_EQ(stacks[0].user, (Frames{{"read", "libc.so.6"}}));
  EXPECT_EQ(stacks[0].kernel, (Frames{{"ksys_read", "[kernel]"}}));
  EXPECT_EQ(stacks[0].us, 7000U);
}

TEST(ReadStacks, RefusesWhatIsNone) {
  for (const char* text : {"app;main\n", "app;main x\n", "app;main 1.5\n", "x", "a;b 1\nfoo\n",
                           "{\"columns\"", "a;b 99999999999999999999999"}) {
    EXPECT_FALSE(read_stacks(text)) << text;
  }
  EXPECT_THAT(read_stacks("a;b 1\nfoo\n").error().message(), StartsWith("line 2: does not end in"));
  const auto text = read_stacks("hello\n");
  EXPECT_EQ(text.error().message(),
            "neither JSON of 'offcpuctl snapshot --json' nor folded text (a;b;c 123): line 1: does "
            "not end in a space and a number of microseconds");
  EXPECT_EQ(text.error().kind(), ErrorKind::Usage);
}

// Each error says what is wrong in words of the user, and how to get what is right.
TEST(ReadStacks, SaysWhatToDoAboutAFileWithoutStacks) {
  const std::pair<const char*, const char*> kinds[] = {
      {"", "has no stacks; "},
      {" \n", "has no stacks; "},
      {"{}", "is JSON, but no stacks of offcpud; "},
      {"[1]", "is JSON, but no stacks of offcpud; "},
      {R"({"stalls": []})", "is JSON, but no stacks of offcpud; "},
      {R"({"rows": [[0]]})", "is JSON, but no stacks of offcpud; "},
      {R"({"rows": [)", "is no whole JSON; "}};
  for (const auto& [text, what] : kinds) {
    const auto stacks = read_stacks(text);
    ASSERT_FALSE(stacks) << text;
    EXPECT_EQ(stacks.error().kind(), ErrorKind::Usage) << text;
    EXPECT_THAT(stacks.error().message(), StartsWith(what));
    EXPECT_THAT(stacks.error().message(), HasSubstr("'offcpuctl snapshot --json'"));
  }
}

// Beyond what 64 bits hold, or no whole number: to convert such a double is undefined behaviour.
TEST(ReadStacks, RefusesNumbersThatAreNotWhole) {
  const auto answer = [](const std::string& ns) {
    return R"({"columns":["comm","reason","ns","stack"],"rows":[[0,1,)" + ns +
           R"(,0]],"strings":["app","disk"],"stacks":[[]],"frames":[]})";
  };
  EXPECT_TRUE(read_stacks(answer("5000")));
  for (const char* ns : {"1e30", "-1", "0.5"}) EXPECT_FALSE(read_stacks(answer(ns))) << ns;
}

}  // namespace
}  // namespace offcpud
