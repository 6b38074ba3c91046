// SPDX-License-Identifier: Apache-2.0
#include "base/duration_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>

namespace offcpud {
namespace {

// The pages have the same cases: tests/page/duration_test.mjs.
TEST(DurationText, IsThatOfTheTable) {
  std::ifstream file(OFFCPUD_SOURCE_DIR "/tests/data/durations.tsv");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::istringstream fields(line);
    std::int64_t ns = 0;
    std::string text;
    fields >> ns;
    fields.ignore(1);  // the tab
    std::getline(fields, text);
    EXPECT_EQ(duration_text(std::chrono::nanoseconds(ns)), text) << ns;
  }
  EXPECT_GE(cases, 40U);
}

TEST(DurationText, WhatIsNoDurationIsNone) {
  using Seconds = std::chrono::duration<double>;
  EXPECT_EQ(duration_text(Seconds(-1)), "0 s");
  EXPECT_EQ(duration_text(Seconds(1e-10)), "0 s");
  EXPECT_EQ(duration_text(Seconds(std::numeric_limits<double>::quiet_NaN())), "0 s");
}

TEST(DurationText, WhatIsTooLongIsCut) {
  using Seconds = std::chrono::duration<double>;
  EXPECT_EQ(duration_text(Seconds(std::numeric_limits<double>::infinity())), "104166 d 16 h");
}

}  // namespace
}  // namespace offcpud
