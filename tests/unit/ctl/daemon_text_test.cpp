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

TEST(VerdictText, IsTheVerdictsAndWhatToTypeNext) {
  const std::string text =
      *verdict_text("web: 2.0 threads wait for \x1b[31mdb\nidle: 4\n\nthreads on average, ...\n");
  EXPECT_TRUE(text.starts_with("web: 2.0 threads wait for \\x1b[31mdb\nidle: 4\n\nnext: ")) << text;
  EXPECT_EQ(text.find("on average"), std::string::npos);
  EXPECT_NE(text.find("\n      offcpuctl --help "), std::string::npos);
  EXPECT_TRUE(verdict_text("nobody waits")->starts_with("nobody waits\n\nnext: "));
}

}  // namespace
}  // namespace offcpud
