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
  EXPECT_EQ(*settings,
            (std::vector<YamlSetting>{{"a", Kind::Value, "1", 2},
                                      {"b", Kind::Group, "", 3},
                                      {"b.c", Kind::Value, "x y", 4},
                                      {"b.d", Kind::Group, "", 5},
                                      {"b.d.e", Kind::Value, "2", 5},
                                      {"b.d.f", Kind::Nothing, "", 5},
                                      {"g",
                                       Kind::List,
                                       "",
                                       6,
                                       {{Kind::Value, "1", {}, 6},
                                        {Kind::Group, "", {{"h", Kind::Value, "2", 6}}, 6},
                                        {Kind::List, "", {}, 6}}},
                                      {"i", Kind::Nothing, "", 7},
                                      {"j", Kind::Value, "last", 8}}));
}

TEST(YamlSettings, ItemsOfAListHaveTheirLinesAndNothingBelowTheirValues) {
  const auto settings = parse_yaml_settings(
      "a:\n"
      "  rules:\n"
      "    - x: 1\n"
      "      y: [2, {z: 3}]\n"
      "    - ~\n"
      "    - {x: {x: {x: 4}}, w: , v: \"5\"}\n"
      "  b: 6\n",
      "x");
  ASSERT_TRUE(settings) << settings.error().message();
  const std::vector<YamlItem> items = {
      {Kind::Group, "", {{"x", Kind::Value, "1", 3}, {"y", Kind::List, "", 4}}, 3},
      {Kind::Nothing, "", {}, 5},
      {Kind::Group,
       "",
       {{"x", Kind::Group, "", 6}, {"w", Kind::Nothing, "", 6}, {"v", Kind::Value, "5", 6}},
       6}};
  EXPECT_EQ(*settings, (std::vector<YamlSetting>{{"a", Kind::Group, "", 1},
                                                 {"a.rules", Kind::List, "", 2, items},
                                                 {"a.b", Kind::Value, "6", 7}}));
}

TEST(YamlSettings, AValueStandsForItself) {
  EXPECT_EQ(parse_yaml_value("10s")->value, "10s");
  EXPECT_EQ(parse_yaml_value("'a: b'")->value, "a: b");
  EXPECT_EQ(parse_yaml_value("")->kind, Kind::Nothing);
  EXPECT_EQ(parse_yaml_value("{a: 1}")->kind, Kind::Group);
  ASSERT_EQ(parse_yaml_value("[1s, {a: 2}]")->items.size(), 2U);
  EXPECT_EQ(parse_yaml_value("[1s, {a: 2}]")->items[1].entries[0].key, "a");
  EXPECT_EQ(parse_yaml_value("[{a: 1, a: 2}]").error().message(),
            "entry 1: a: set twice; the first time on line 1");
  EXPECT_EQ(parse_yaml_value("[1s").error().message(),
            "not valid YAML: a quotation or bracket is still open at the end of the value");
  EXPECT_EQ(parse_yaml_value("&a 1").error().message(),
            "anchors (&name) are not supported; remove it");
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
