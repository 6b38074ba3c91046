// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/utf8_prefix.h"

namespace offcpud {
namespace {

using namespace std::string_literals;

TEST(ToValidUtf8, LeavesValidTextAlone) {
  for (const std::string& text :
       {""s, "plain"s, "a\0b"s, "Gr\u00fc\u00dfe"s, "\u20ac"s, "\U0001f600"s, "\u0800\ud7ff\ue000"s,
        "\U00010000\U0010ffff"s, "\u007f\u0080\u07ff"s}) {
    EXPECT_EQ(to_valid_utf8(text), text);
  }
}

// The example of the Unicode standard, chapter 3, table 3-8 and its neighbours.
TEST(ToValidUtf8, ReplacesEachMaximalPartOnce) {
  EXPECT_EQ(to_valid_utf8("a\xf1\x80\x80\xe1\x80\xc2"
                          "b\x80"
                          "c\x80\xbf"
                          "d"),
            "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd");
  EXPECT_EQ(to_valid_utf8("\xff\xfe"), "\ufffd\ufffd");
}

TEST(ToValidUtf8, RejectsOverlongSurrogatesAndBeyondTheLastCodePoint) {
  EXPECT_EQ(to_valid_utf8("\xc0\xaf"), "\ufffd\ufffd");
  EXPECT_EQ(to_valid_utf8("\xe0\x9f\xbf"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(to_valid_utf8("\xf0\x8f\xbf\xbf"), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(to_valid_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(to_valid_utf8("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(to_valid_utf8("\xf5\x80"), "\ufffd\ufffd");
}

TEST(ToValidUtf8, ReplacesWhatIsCutOffAtTheEnd) {
  EXPECT_EQ(to_valid_utf8("x\xc3"), "x\ufffd");
  EXPECT_EQ(to_valid_utf8("x\xe2\x82"), "x\ufffd");
  EXPECT_EQ(to_valid_utf8("x\xf0\x9f\x98"), "x\ufffd");
}

TEST(ToValidUtf8, EveryPairOfBytesBecomesTextThatStaysAsItIs) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string pair{static_cast<char>(first), static_cast<char>(second)};
      const std::string text = to_valid_utf8(pair);
      EXPECT_EQ(to_valid_utf8(text), text) << first << ' ' << second;
    }
  }
}

TEST(Utf8Prefix, IsTheWholeTextIfItFits) {
  EXPECT_EQ(utf8_prefix("", 0), "");
  EXPECT_EQ(utf8_prefix("a\u20ac", 4), "a\u20ac");
}

TEST(Utf8Prefix, SplitsNoCharacter) {
  const std::string text = "a\u20ac\U0001f600";
  const std::string_view ends[] = {"", "a", "a", "a", "a\u20ac", "a\u20ac", "a\u20ac", "a\u20ac"};
  for (std::size_t most = 0; most < text.size(); ++most) {
    EXPECT_EQ(utf8_prefix(text, most), ends[most]) << most;
  }
}

TEST(Utf8Prefix, EndsOnBytesThatAreNotUtf8) {
  EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80", 2), "");
}

}  // namespace
}  // namespace offcpud
