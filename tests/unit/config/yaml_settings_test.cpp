// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offcpud {
namespace {

using Kind = YamlSetting::Kind;

TEST(YamlSettings, FlattensMapsIntoDottedKeysWithTheirLines) {
  const auto settings = parse_yaml_settings(
      "# comment\n"
      "a: 1\n"
      "b:\n"
      "  c: 'x y'\n"
      "  d: {e: \"2\", f: }\n"
      "g: [1, {h: 2}, [3]]\n"
      "i:\n"
      "j: last\n",
      "x");
  ASSERT_TRUE(settings) << settings.error().message();
  EXPECT_EQ(*settings, (std::vector<YamlSetting>{{"a", Kind::Value, "1", 2},
                                                 {"b", Kind::Group, "", 3},
                                                 {"b.c", Kind::Value, "x y", 4},
                                                 {"b.d", Kind::Group, "", 5},
                                                 {"b.d.e", Kind::Value, "2", 5},
                                                 {"b.d.f", Kind::Nothing, "", 5},
                                                 {"g", Kind::List, "", 6},
                                                 {"i", Kind::Nothing, "", 7},
                                                 {"j", Kind::Value, "last", 8}}));
}

TEST(YamlSettings, AcceptsAMarkedDocumentAndAFileOfComments) {
  for (const char* text : {"---\na: 1\n...\n",
                           "\xef\xbb\xbf"
                           "a: 1\n",
                           "%YAML 1.2\n---\na: 1"}) {
    const auto settings = parse_yaml_settings(text, "x");
    ASSERT_TRUE(settings) << settings.error().message();
    EXPECT_EQ(settings->size(), 1U) << text;
  }
  for (const char* text : {"# nothing\n", "---\n# nothing\n", "{}\n", ""}) {
    const auto settings = parse_yaml_settings(text, "x");
    ASSERT_TRUE(settings) << settings.error().message();
    EXPECT_TRUE(settings->empty()) << text;
  }
}

// Inputs that made YAML parsers overflow the stack, run in quadratic time or expand without end.
TEST(YamlSettings, HostileTextIsRefusedInBoundedTime) {
  constexpr std::size_t kSize = 100'000;
  std::vector<std::string> texts;
  for (const std::string unit :
       {"[", "{",  "- ", "? ",  "a: ",  "a:\n", "!",    "&a ", "*", "'", "\"",
        "|", "\n", "%",  "-\n", "{a: ", "[a, ", "? - ", ",",   "]", "\t"}) {
    std::string text = "k: ";
    while (text.size() < kSize) text += unit;
    texts.push_back(text);
    texts.push_back(text.substr(3));
  }
  std::string staircase;
  for (std::size_t depth = 0; depth < 600; ++depth) {
    staircase += std::string(depth, ' ') + "a:\n";
  }
  texts.push_back(staircase);
  for (const std::string& text : texts) {
    const auto settings = parse_yaml_settings(text, "x");
    if (settings) continue;
    EXPECT_EQ(settings.error().kind(), ErrorKind::Configuration);
  }
}

}  // namespace
}  // namespace offcpud
