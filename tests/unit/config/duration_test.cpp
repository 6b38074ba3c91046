// SPDX-License-Identifier: Apache-2.0
#include "config/duration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

TEST(Duration, ReadsWholeNumbersWithUnits) {
  const struct {
    const char* text;
    milliseconds duration;
  } cases[] = {
      {"0s", 0ms},    {"500ms", 500ms},   {"10s", 10s}, {"10min", 10min},
      {"10m", 10min}, {"1h30min", 90min}, {"7d", 168h}, {"1d2h3min4s5ms", 26h + 3min + 4s + 5ms},
      {"007s", 7s}};
  for (const auto& [text, duration] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message();
    EXPECT_EQ(*parsed, duration) << text;
  }
}

TEST(Duration, HasMicrosecondsOnlyWhereTheyAreOfUse) {
  const auto fine = parse_fine_duration("1s2ms30us");
  ASSERT_TRUE(fine);
  EXPECT_EQ(*fine, 1'002'030us);
  EXPECT_EQ(format_fine_duration(*fine), "1s2ms30us");
  EXPECT_EQ(parse_fine_duration("5").error().message(),
            R"("5" has no unit (us, ms, s, min, h, d))");
  EXPECT_EQ(parse_duration("5us").error().message(),
            R"("5us" has an unknown unit "us" (ms, s, min, h, d))");
}

TEST(Duration, RefusesWhatCouldBeMisread) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"", R"("" is not a duration)"},
      {"10", R"("10" has no unit (ms, s, min, h, d))"},
      {"1h30", R"("1h30" has no unit (ms, s, min, h, d))"},
      {"s", R"("s" is not a duration)"},
      {"-5s", R"("-5s" is not a duration)"},
      {"+5s", R"("+5s" is not a duration)"},
      {" 5s", R"(" 5s" is not a duration)"},
      {"1.5s", R"("1.5s" is not made of whole numbers)"},
      {"5 s", R"("5 s" has an unknown unit " s" (ms, s, min, h, d))"},
      {"5us", R"("5us" has an unknown unit "us" (ms, s, min, h, d))"},
      {"5S", R"("5S" has an unknown unit "S" (ms, s, min, h, d))"},
      {"1s1h", R"("1s1h" does not go from larger to smaller units)"},
      {"1s1s", R"("1s1s" does not go from larger to smaller units)"},
      {"99999999999999999999s", R"("99999999999999999999s" is too long a time)"},
      {"9223372036854775807s", R"("9223372036854775807s" is too long a time)"},
      {"106751991167d23h", R"("106751991167d23h" is too long a time)"},
  };
  for (const auto& [text, error] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), error);
    EXPECT_EQ(parsed.error().kind(), ErrorKind::Configuration);
  }
}

TEST(Duration, FormatsTheShortestTextThatReadsBack) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(1500ms), "1s500ms");
  EXPECT_EQ(format_duration(600s), "10min");
  EXPECT_EQ(format_duration(168h), "7d");
  for (const milliseconds duration :
       {1ms, milliseconds(90min), milliseconds(25h), milliseconds::max()}) {
    const auto back = parse_duration(format_duration(duration));
    ASSERT_TRUE(back) << format_duration(duration);
    EXPECT_EQ(*back, duration);
  }
}

}  // namespace
}  // namespace offcpud
