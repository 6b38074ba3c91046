// SPDX-License-Identifier: Apache-2.0
#include "api/time_parameter.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kNow;

TEST(TimeParameter, ReadsTheFormsThatPeopleAndProgramsWrite) {
  const struct {
    const char* text;
    WallTime time;
  } cases[] = {{"2026-11-20T12:00:00Z", kNow},
               {"2026-11-20t12:00:00z", kNow},
               {"2026-11-20 12:00:00Z", kNow},
               {"2026-11-20T12:00:00.25Z", kNow + 250ms},
               {"2026-11-20T12:00:00.123456789Z", kNow + 123'456'789ns},
               {"2026-11-20T14:00:00+02:00", kNow},
               {"2026-11-20T14:00:00 02:00", kNow},
               {"2026-11-20T06:30:00-0530", kNow},
               {"1970-01-01T00:00:00Z", WallTime{}},
               {"2024-02-29T00:00:00Z", WallTime(1'709'164'800s)},
               {"1795176000", kNow},
               {"1795176000.5", kNow + 500ms},
               {"0", WallTime{}},
               {"now", kNow},
               {"-10min", kNow - 10min},
               {"-1h30min", kNow - 90min},
               {"-0s", kNow}};
  for (const auto& each : cases) {
    const auto time = parse_time(each.text, kNow);
    ASSERT_TRUE(time) << each.text;
    EXPECT_EQ(*time, each.time) << each.text;
  }
}

TEST(TimeParameter, RefusesTheRest) {
  for (const char* text : {"",
                           "x",
                           "-",
                           "-10",
                           "10min",
                           "+10min",
                           "yesterday",
                           "2026-11-20",
                           "2026-11-20T12:00Z",
                           "2026-11-20T12:00:00",
                           "2026-11-20T12:00:00.Z",
                           "2026-11-20T12:00:00.0000000001Z",
                           "2026-02-30T12:00:00Z",
                           "2026-11-20T24:00:00Z",
                           "2026-11-20T12:60:00Z",
                           "2026-11-20T12:00:00Zx",
                           "2026-11-20T12:00:00+24:00",
                           "0026-11-20T12:00:00Z",
                           "9999-11-20T12:00:00Z",
                           "1795176000.",
                           "1795176000.x",
                           "1795176000000",
                           "-1795176000",
                           "-99999999d",
                           "1e9",
                           " 1795176000",
                           "1795176000 "}) {
    EXPECT_FALSE(parse_time(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace offcpud
