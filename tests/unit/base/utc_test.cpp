// SPDX-License-Identifier: Apache-2.0
#include "base/utc.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(Utc, OneMomentHasATextForEachReader) {
  const auto day = from_utc({.year = 2026, .month = 11, .day = 20, .hour = 12, .minute = 19});
  ASSERT_TRUE(day);
  const WallTime time = *day + std::chrono::milliseconds(40'250);
  EXPECT_EQ(rfc3339(time), "2026-11-20T12:19:40.250Z");
  EXPECT_EQ(moment_text(time), "2026-11-20 12:19:40");
  EXPECT_EQ(clock_text(time), "12:19:40");
  EXPECT_EQ(compact_utc(time), "20261120T121940Z");
}

TEST(Utc, TimesBefore1970AreCutDownwards) {
  EXPECT_EQ(moment_text(WallTime(std::chrono::milliseconds(-1))), "1969-12-31 23:59:59");
}

}  // namespace
}  // namespace offcpud
