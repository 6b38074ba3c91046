// SPDX-License-Identifier: Apache-2.0
#include "config/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

bool matches(const char* pattern, std::string_view text) {
  const auto parsed = Pattern::parse(pattern);
  if (!parsed) ADD_FAILURE() << parsed.error().message();
  return parsed && parsed->matches(text);
}

TEST(Pattern, MatchesTheWholeText) {
  EXPECT_TRUE(matches("nginx", "nginx"));
  EXPECT_FALSE(matches("nginx", "nginx: worker"));
  EXPECT_FALSE(matches("nginx|cp", "cpp"));
  EXPECT_TRUE(matches("/system\\.slice/.*", "/system.slice/a\nb"));
  EXPECT_FALSE(matches(".", ""));
}

TEST(Pattern, ACharacterIsACharacter) {
  EXPECT_TRUE(matches("caf.", "caf\u00e9"));
  EXPECT_TRUE(matches("[\u00e0-\u00ef]+", "\u00e9\u00e8"));
  EXPECT_FALSE(matches(".*", "\xff"));
}

TEST(Pattern, RefusesWhatIsNone) {
  EXPECT_EQ(Pattern::parse("a)").error().message(),
            "\"a)\" is not a regular expression (unexpected ): a))");
  EXPECT_FALSE(Pattern::parse(""));
  EXPECT_FALSE(Pattern::parse("\xff"));
  EXPECT_FALSE(Pattern::parse("(a)\\1"));  // a back reference
  EXPECT_TRUE(Pattern::parse(std::string(Pattern::kLongest, 'a')));
  EXPECT_FALSE(Pattern::parse(std::string(Pattern::kLongest + 1, 'a')));
}

// An expression on which a backtracking engine would not end.
TEST(Pattern, TimeIsLinear) {
  EXPECT_FALSE(matches("(a*)*b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace offcpud
