// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

using namespace std::string_literals;

TEST(Printable, KeepsTextAndWritesOutTheRest) {
  EXPECT_EQ(printable("a b"), "a b");
  EXPECT_EQ(printable("gr\u00fc\u00df \u20ac \U0001f600"), "gr\u00fc\u00df \u20ac \U0001f600");
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f\0"s), "a\\x0ab\\x1b[31m\\x7f\\x00");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\u009b\u00a0"), "\\xc2\\x9b\u00a0");
  EXPECT_EQ(printable("\u202dx\u202a\u2030\u200d"), "\\xe2\\x80\\xadx\\xe2\\x80\\xaa\u2030\u200d");
}

TEST(Printable, QuotationsAreShortenedBetweenCharacters) {
  EXPECT_EQ(quotation("10"), "\"10\"");
  EXPECT_EQ(quotation(std::string(1000, 'x')), '"' + std::string(60, 'x') + "...\"");
  EXPECT_EQ(quotation(std::string(59, 'x') + "\u20ac\u20ac"), '"' + std::string(59, 'x') + "...\"");
}

TEST(TextDefect, FindsTheFirstByteThatIsNotText) {
  const struct {
    std::string text;
    std::size_t line;  // 0: none
    const char* what;
  } cases[] = {
      {"", 0, ""},
      {"a\tb\r\nc\u00e9\xef\xbb\xbf", 0, ""},
      {"a\n\0"s, 2, "control character 0x00"},
      {"\x1b", 1, "control character 0x1b"},
      {"a\nb\n\xff", 3, "byte 0xff is not UTF-8"},
      {"\xc0\xaf", 1, "byte 0xc0 is not UTF-8"},          // overlong /
      {"\xe0\x80\xaf", 1, "byte 0xe0 is not UTF-8"},      // overlong /
      {"\xed\xa0\x80", 1, "byte 0xed is not UTF-8"},      // surrogate
      {"\xf4\x90\x80\x80", 1, "byte 0xf4 is not UTF-8"},  // above U+10FFFF
      {"\xe2\x82", 1, "byte 0xe2 is not UTF-8"},          // cut off
  };
  for (const auto& [text, line, what] : cases) {
    const auto defect = find_text_defect(text);
    ASSERT_EQ(defect.has_value(), line != 0) << printable(text);
    if (!defect) continue;
    EXPECT_EQ(defect->line, line);
    EXPECT_EQ(defect->what, what);
  }
}

}  // namespace
}  // namespace offcpud
