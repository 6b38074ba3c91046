// SPDX-License-Identifier: Apache-2.0
#include "metrics/text_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace offcpud {
namespace {

std::string seconds(std::uint64_t nanoseconds) {
  std::string out;
  append_seconds(out, nanoseconds);
  return out;
}

TEST(TextFormat, SecondsAreExactAndWithoutTrailingZeros) {
  EXPECT_EQ(seconds(0), "0");
  EXPECT_EQ(seconds(1), "0.000000001");
  EXPECT_EQ(seconds(100'000'000), "0.1");
  EXPECT_EQ(seconds(1'000'000'000), "1");
  EXPECT_EQ(seconds(1'500'000'001), "1.500000001");
  EXPECT_EQ(seconds(10'000'000'000), "10");
}

TEST(TextFormat, SecondsAreExactBeyondTheDigitsOfADouble) {
  EXPECT_EQ(seconds(9'007'199'254'740'993U), "9007199.254740993");
  EXPECT_EQ(seconds(std::numeric_limits<std::uint64_t>::max()), "18446744073.709551615");
}

TEST(TextFormat, RatiosReadBackAsTheSameDouble) {
  const auto text = [](double value) {
    std::string out;
    append_number(out, value);
    return out;
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(-0.0), "0");
  EXPECT_EQ(text(-0.0625), "-0.0625");
  EXPECT_EQ(text(1e-09), "1e-09");
  EXPECT_EQ(std::stod(text(1.0 / 3)), 1.0 / 3);
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(TextFormat, LabelsAreSeparatedAndEscaped) {
  std::string out = "{";
  append_label(out, "a", "plain \u00fc");
  append_label(out, "b", "\\\"\n");
  append_label(out, "c", "");
  EXPECT_EQ(out, "{a=\"plain \u00fc\",b=\"\\\\\\\"\\n\",c=\"\"");
}

}  // namespace
}  // namespace offcpud
