// SPDX-License-Identifier: Apache-2.0
#include "sites/glob.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace offcpud {
namespace {

TEST(Glob, StarsStandForAnyBytesAndForNone) {
  EXPECT_TRUE(glob_matches("read", "read"));
  EXPECT_FALSE(glob_matches("read", "pread"));
  EXPECT_FALSE(glob_matches("read", "readv"));
  EXPECT_TRUE(glob_matches("read*", "read"));
  EXPECT_TRUE(glob_matches("read*", "readv"));
  EXPECT_TRUE(glob_matches("*read", "pread"));
  EXPECT_TRUE(glob_matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_matches("*a*b*", "xxbxxaxx"));
  EXPECT_TRUE(glob_matches("a*a", "aa"));
  EXPECT_FALSE(glob_matches("a*a", "a"));  // the two are two
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("**", "x"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("", "x"));
  EXPECT_TRUE(glob_matches("a*ab*b", "aabb"));
  EXPECT_TRUE(glob_matches("*::enter*", "ObjectMonitor::enter"));
}

TEST(Glob, OtherCharactersOfShellsMeanThemselves) {
  EXPECT_TRUE(glob_matches("operator[]", "operator[]"));
  EXPECT_FALSE(glob_matches("[ab]", "a"));
  EXPECT_FALSE(glob_matches("?", "a"));
  EXPECT_TRUE(glob_matches("a\\*", "a\\b"));
}

TEST(Glob, CoversWhatCanOnlyFitIt) {
  EXPECT_TRUE(glob_covers("read*", "readv"));
  EXPECT_TRUE(glob_covers("read*", "readv*"));
  EXPECT_TRUE(glob_covers("*", "*x*"));
  EXPECT_TRUE(glob_covers("a*c", "ab*c"));
  EXPECT_FALSE(glob_covers("readv*", "read*"));
  EXPECT_FALSE(glob_covers("read", "read*"));
  EXPECT_FALSE(glob_covers("a*bc", "a*b*c"));
}

// An expression with backtracking would take longer than the universe has existed.
TEST(Glob, HostileNamesTakeNoTime) {
  std::string glob;
  for (int i = 0; i < 40; ++i) glob += "a*";
  glob += "b";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob_matches(glob, std::string(10'000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace offcpud
