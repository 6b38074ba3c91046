// SPDX-License-Identifier: Apache-2.0
#include "manual/roff.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(Roff, TextComesOutAsItIs) {
  EXPECT_EQ(roff_text("a-b \\d \"x\" 'y' `z` ^~"),
            "a\\-b \\(rsd \\(dqx\\(dq \\(aqy\\(aq \\(gaz\\(ga \\(ha\\(ti");
  EXPECT_EQ(roff_text("two\nlines"), "two lines");
}

TEST(Roff, ALeadingDotIsNoRequest) {
  EXPECT_EQ(roff_text(".html is interactive"), "\\&.html is interactive");
}

}  // namespace
}  // namespace offcpud
