// SPDX-License-Identifier: Apache-2.0
#include "ctl/daemon_text.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(DaemonText, LinesStayLinesAndNothingIsObeyedByATerminal) {
  EXPECT_EQ(*daemon_text("a  b\n\nc"), "a  b\n\nc\n");
  EXPECT_EQ(*daemon_text("\x1b[31mred\xff\n"), "\\x1b[31mred\\xff\n");
  EXPECT_EQ(*daemon_text(""), "");
}

TEST(DaemonText, JsonIsUnchangedOrAnError) {
  EXPECT_EQ(*json_checked("{\"a\": 1}\n"), "{\"a\": 1}\n");
  EXPECT_FALSE(json_checked("<html>"));
}

}  // namespace
}  // namespace offcpud
