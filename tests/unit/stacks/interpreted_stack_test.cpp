// SPDX-License-Identifier: Apache-2.0
#include "stacks/interpreted_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<StackFrame> native(const std::vector<std::string>& functions) {
  std::vector<StackFrame> frames;
  for (const std::string& function : functions) {
    frames.emplace_back().function = function;
    frames.back().object = "python3";
  }
  return frames;
}

std::vector<std::string> shown(const std::vector<std::string>& user,
                               const InterpretedStack* stack) {
  std::vector<std::string> functions;
  for (const StackFrame& frame : with_interpreted(native(user), stack)) {
    functions.push_back(frame.function);
  }
  return functions;
}

TEST(InterpretedStack, FunctionsAreInThePlaceOfTheFrameThatRunsThem) {
  InterpretedStack stack;
  stack.frames = {{"inner", 3, 1}, {"middle", 4, 1}, {"outer", 5, 3}};
  EXPECT_THAT(shown({"sleep", "eval", "sort", "eval", "main"}, &stack),
              ElementsAre("sleep", "inner", "middle", "sort", "outer", "main"));
}

TEST(InterpretedStack, AFrameThatRunsNothingStays) {
  InterpretedStack stack;
  stack.frames = {{"outer", 5, 3}};
  EXPECT_THAT(shown({"sleep", "eval", "sort", "eval", "main"}, &stack),
              ElementsAre("sleep", "eval", "sort", "outer", "main"));
}

TEST(InterpretedStack, WhatHasNoFrameIsOutsideOfAll) {
  InterpretedStack stack;
  stack.frames = {{"inner", 0, 1}, {"outer", 0, 2}};
  EXPECT_THAT(shown({"sleep", "eval"}, &stack), ElementsAre("sleep", "inner", "outer"));
  EXPECT_THAT(shown({}, &stack), ElementsAre("inner", "outer"));
}

TEST(InterpretedStack, HiddenFramesAreReplacedAsAWhole) {
  InterpretedStack stack;
  stack.frames = {{"inner", 0, 1}, {"outer", 0, 1}};
  stack.hidden_from = 1;
  stack.hidden_to = 4;
  EXPECT_THAT(shown({"sleep", "eval", "sort", "eval", "main"}, &stack),
              ElementsAre("sleep", "inner", "outer", "main"));
}

TEST(InterpretedStack, WithoutOneTheStackIsAsItWas) {
  EXPECT_THAT(shown({"sleep", "main"}, nullptr), ElementsAre("sleep", "main"));
  EXPECT_THAT(shown({}, nullptr), IsEmpty());
}

TEST(InterpretedStack, AFrameHasItsLineAndNoAddress) {
  InterpretedStack stack;
  stack.frames = {{"pay (till.py)", 12, 0}};
  const auto frames = with_interpreted(native({"eval"}), &stack);
  ASSERT_EQ(frames.size(), 1);
  EXPECT_EQ(frames[0].object, "[python]");
  EXPECT_EQ(frames[0].line, 12);
  EXPECT_EQ(frames[0].address, 0);
  EXPECT_FALSE(frames[0].kernel);
}

}  // namespace
}  // namespace offcpud
