// SPDX-License-Identifier: Apache-2.0
#include "ctl/wrapped_text.h"

#include <gtest/gtest.h>

#include "ctl/top_table.h"
#include "unit/ctl/top_fixture.h"

namespace offcpud {
namespace {

TEST(WrappedText, WhatGoesOnIsIndented) {
  EXPECT_EQ(wrapped("web.service: 2.0 threads wait for an answer of db.service (postgres)\n"
                    "next: offcpuctl why\n",
                    40),
            "web.service: 2.0 threads wait for an\n"
            "    answer of db.service (postgres)\n"
            "next: offcpuctl why\n");
}

TEST(WrappedText, OfATreeBelowItsLastColumn) {
  EXPECT_EQ(wrapped("     2.0                2 %  unknown, because nobody told it\n", 50),
            "     2.0                2 %  unknown, because\n" + std::string(25, ' ') +
                "nobody told it\n");
}

TEST(WrappedText, NothingIsLostOrAdded) {
  const std::string text = "\n  a  b\n" + std::string(60, 'x') + " y\nlast";
  EXPECT_EQ(wrapped(text, 50), "\n  a  b\n" + std::string(60, 'x') + "\n    y\nlast");
  EXPECT_EQ(wrapped(text, kAnyWidth), text);
  EXPECT_EQ(wrapped("", 50), "");
}

TEST(WrappedText, CountsColumns) {
  const test::WithLocale utf8("C.UTF-8");
  ASSERT_TRUE(utf8.known());
  std::string wide;
  for (int i = 0; i < 20; ++i) wide += "µ";
  EXPECT_EQ(wrapped(wide + " " + wide.substr(0, 38), 40), wide + " " + wide.substr(0, 38));
}

}  // namespace
}  // namespace offcpud
