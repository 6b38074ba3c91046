// SPDX-License-Identifier: Apache-2.0
#include "sites/stack_pattern.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

StackPattern stack_pattern(std::string_view text) {
  auto parsed = StackPattern::parse(text, PatternKind::User);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
  return parsed ? *parsed : StackPattern{};
}

TEST(StackPattern, StepsAreFunctionsAndGaps) {
  const StackPattern parsed = stack_pattern("... <  A::a |\n  B::b <\tC::c < ... < D::d ");
  EXPECT_EQ(parsed.text, "... < A::a | B::b < C::c < ... < D::d");
  ASSERT_EQ(parsed.steps.size(), 3U);
  EXPECT_TRUE(parsed.steps[0].after_gap);
  EXPECT_EQ(parsed.steps[0].frame.text, "A::a | B::b");
  EXPECT_FALSE(parsed.steps[1].after_gap);
  EXPECT_TRUE(parsed.steps[2].after_gap);
}

TEST(StackPattern, TemplatesHaveAnglesOfTheirOwn) {
  EXPECT_EQ(stack_pattern("std::vector<int>::at < f::g").steps.size(), 2U);
}

TEST(StackPattern, RefusesWhatSaysNothingOrSomethingElse) {
  for (const char* text : {"", " ", "...", "A::a < ...", "... < ... < A::a", "A::a <", "< A::a",
                           "A::a < < B::b", "... A::a", "...<A::a", "A::a <B::b", "A::a< B::b",
                           "A::a |", "@libc.so", "A::a@", "A::a || B::b"}) {
    EXPECT_FALSE(StackPattern::parse(text, PatternKind::User)) << text;
  }
  std::string many = "a::a";
  for (std::size_t i = 0; i < StackPattern::kMostSteps; ++i) many += " < a::a";
  EXPECT_FALSE(StackPattern::parse(many, PatternKind::User));
  EXPECT_FALSE(
      StackPattern::parse(std::string(StackPattern::kMostBytes + 1, 'a'), PatternKind::User));
  EXPECT_FALSE(StackPattern::parse("read@libc.so", PatternKind::Kernel));
}

TEST(StackPattern, CoversWhereOneIsFoundTheOtherIs) {
  const auto covers = [](const char* one, const char* other) {
    return stack_pattern(one).covers(stack_pattern(other));
  };
  EXPECT_TRUE(StackPattern{}.covers(stack_pattern("A::a")));
  EXPECT_FALSE(stack_pattern("A::a").covers(StackPattern{}));
  EXPECT_TRUE(covers("A::a", "A::a < B::b"));
  EXPECT_TRUE(covers("... < B::b", "A::a < B::b"));
  EXPECT_TRUE(covers("... < B::*", "... < A::a < ... < B::b"));
  EXPECT_TRUE(covers("... < A::a < ... < C::c", "A::a < ... < B::b < ... < C::c"));
  EXPECT_FALSE(covers("A::a", "... < A::a"));
  EXPECT_FALSE(covers("A::a < B::b", "A::a < ... < B::b"));
  EXPECT_FALSE(covers("... < A::a < B::b", "... < A::a"));
  EXPECT_FALSE(covers("... < B::b < ... < A::a", "... < A::a < ... < B::b"));
}

}  // namespace
}  // namespace offcpud
