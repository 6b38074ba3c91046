// SPDX-License-Identifier: Apache-2.0
#include "ctl/terminal_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "ctl/locale_signs.h"
#include "unit/ctl/top_fixture.h"

namespace offcpud {
namespace {

TEST(TerminalText, WhatATerminalWouldObeyIsWrittenOut) {
  const test::WithLocale utf8("C.UTF-8");
  ASSERT_TRUE(utf8.known());
  EXPECT_EQ(terminal_text("a\x1b[2J\x07\n\t\x7f"), "a\\x1b[2J\\x07\\x0a\\x09\\x7f");
  EXPECT_EQ(terminal_text("\xc2\x9b"), "\\xc2\\x9b");           // CSI as one character
  EXPECT_EQ(terminal_text("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(terminal_text("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(terminal_text(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(terminal_text("\xc3\xbc\xe4\xb8\x96"), "\xc3\xbc\xe4\xb8\x96");
}

TEST(TerminalText, WithoutUtf8OnlyAsciiPasses) {
  const test::WithLocale c("C");
  EXPECT_EQ(terminal_text("\xc3\xbc"
                          "b"),
            "\\xc3\\xbc"
            "b");
}

TEST(TerminalText, FitsByColumnsNotByBytes) {
  const test::WithLocale utf8("C.UTF-8");
  ASSERT_TRUE(utf8.known());
  EXPECT_EQ(fitted("abc", 5, Align::Left), "abc  ");
  EXPECT_EQ(fitted("abc", 5, Align::Right), "  abc");
  EXPECT_EQ(fitted("abcdef", 4, Align::Left), "abc~");
  EXPECT_EQ(fitted("abcdef", 4, Align::Right), "~def");
  EXPECT_EQ(fitted("\xc3\xbc\xc3\xbc", 3, Align::Left), "\xc3\xbc\xc3\xbc ");
  // A wide character that would be cut through leaves a blank.
  EXPECT_EQ(fitted("\xe4\xb8\x96\xe4\xb8\x96", 3, Align::Left), "\xe4\xb8\x96~");
  EXPECT_EQ(fitted("\xe4\xb8\x96\xe4\xb8\x96\xe4\xb8\x96", 4, Align::Left), "\xe4\xb8\x96 ~");
  EXPECT_EQ(fitted("\xe4\xb8\x96\xe4\xb8\x96\xe4\xb8\x96", 4, Align::Right), "~ \xe4\xb8\x96");
  EXPECT_EQ(fitted("abc", 1, Align::Left), "~");
  EXPECT_EQ(fitted("abc", 0, Align::Left), "");
}

// Two of one kind mostly begin alike, and units end alike.
TEST(TerminalText, NamesAreCutInTheMiddle) {
  const test::WithLocale utf8("C.UTF-8");
  ASSERT_TRUE(utf8.known());
  EXPECT_EQ(fitted("abc", 5, Align::Name), "abc  ");
  EXPECT_EQ(fitted("abcdefgh", 6, Align::Name), "abc~gh");
  EXPECT_EQ(fitted("abcdefgh", 5, Align::Name), "ab~gh");
  EXPECT_EQ(fitted("abc", 1, Align::Name), "~");
  EXPECT_EQ(fitted("\xe4\xb8\x96\xe4\xb8\x96\xe4\xb8\x96", 5, Align::Name),
            "\xe4\xb8\x96~\xe4\xb8\x96");
  EXPECT_EQ(fitted("\xe4\xb8\x96\xe4\xb8\x96\xe4\xb8\x96", 4, Align::Name), "\xe4\xb8\x96~ ");
  EXPECT_EQ(fitted("app-web-1.service", 17, Align::Name), "app-web-1.service");
  EXPECT_EQ(fitted("app-web-1.service", 12, Align::Name), "app-web-1   ");
  EXPECT_EQ(fitted("orders-api-web-1.service", 12, Align::Name), "orders~web-1");
  EXPECT_NE(fitted("/docker-1111111111111111aa.scope", 20, Align::Name),
            fitted("/docker-1111111111111111bb.scope", 20, Align::Name));
}

TEST(DurationCell, IsADurationOrADash) {
  const test::WithLocale utf8("C.UTF-8");
  EXPECT_EQ(duration_cell(0), "-");
  EXPECT_EQ(duration_cell(-1), "-");
  EXPECT_EQ(duration_cell(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(duration_cell(0.00000095), "950 ns");
  EXPECT_EQ(duration_cell(0.0421), "42.1 ms");
  EXPECT_EQ(duration_cell(0.9996), "1 s");
  EXPECT_EQ(duration_cell(0.000999999), "1 ms");
  EXPECT_EQ(duration_cell(59.4), "59 s");
  EXPECT_EQ(duration_cell(0.0000726), "72.6 µs");
  EXPECT_EQ(duration_cell(754.2), "12 min 34 s");
  EXPECT_EQ(duration_cell(7200), "2 h");
  EXPECT_EQ(duration_cell(864000 * 30.0), "300 d");
}

TEST(ForLocale, WithoutUtf8SignsAreAscii) {
  const std::string text = "1.2 µs ± 3 → −4 22× \xc3\xbc";
  {
    const test::WithLocale utf8("C.UTF-8");
    ASSERT_TRUE(utf8.known());
    EXPECT_EQ(for_locale(text), text);
  }
  const test::WithLocale c("C");
  EXPECT_EQ(for_locale(text), "1.2 us +- 3 -> -4 22x \xc3\xbc");
  EXPECT_EQ(duration_cell(0.0000726), "72.6 us");
}

}  // namespace
}  // namespace offcpud
