// SPDX-License-Identifier: Apache-2.0
#include "pipeline/overhead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace offcpud {
namespace {

using namespace std::chrono_literals;
const MonotonicTime kStart{1000s};

TEST(Overhead, IsTheShareOfAllCpusSinceTheFirstCallWhileItIsYoung) {
  Overhead overhead(4);
  EXPECT_EQ(
      overhead.over_last_minute(kStart, std::vector<ProgramCost>{{"a", 1, 5'000'000'000}}, 7s),
      std::nullopt);
  // 0.1 s and 0.2 s in programs, 0.1 s in the daemon: 0.4 s of 4 times 10 s.
  const std::vector<ProgramCost> programs{{"a", 2, 5'100'000'000}, {"b", 9, 200'000'000}};
  EXPECT_DOUBLE_EQ(overhead.over_last_minute(kStart + 10s, programs, 7100ms).value_or(-1), 0.01);
  EXPECT_DOUBLE_EQ(overhead.over_last_minute(kStart + 40s, programs, 7100ms).value_or(-1), 0.0025);
}

TEST(Overhead, ForgetsWhatIsOlderThanAMinute) {
  Overhead overhead(1);
  (void)overhead.over_last_minute(kStart, {}, 0s);
  (void)overhead.over_last_minute(kStart + 10s, {}, 6s);
  EXPECT_DOUBLE_EQ(overhead.over_last_minute(kStart + 69s, {}, 6s).value_or(-1), 6.0 / 69);
  EXPECT_DOUBLE_EQ(overhead.over_last_minute(kStart + 70s, {}, 6s).value_or(-1), 0);
  // Passes further apart than that: since the last one.
  EXPECT_DOUBLE_EQ(overhead.over_last_minute(kStart + 370s, {}, 9s).value_or(-1), 3.0 / 300);
}

TEST(Overhead, IsNotThatOfThePassWhereScrapesComeInQuickSuccession) {
  Overhead overhead(1);
  std::chrono::nanoseconds spent = 0s;
  MonotonicTime now = kStart;
  // Each pass takes 50 ms. Every 10 s one of the daemon's own, and 0.1 s later one for a scrape:
  // 100 ms in 10 s.
  for (int round = 0; round < 60; ++round) {
    for (const auto wait : {9900ms, 100ms}) {
      now += wait;
      spent += 50ms;
      const auto share = overhead.over_last_minute(now, {}, spent);
      if (round >= 6) {
        ASSERT_TRUE(share);
        EXPECT_NEAR(*share, 0.01, 0.001);
      }
    }
  }
}

TEST(Overhead, CoversTheMinuteHoweverManyPassesThereAre) {
  Overhead overhead(1);
  std::optional<double> share;
  // For 300 s, every 10 ms: until 200 s all of the time is spent, then half of it.
  for (int pass = 0; pass <= 30000; ++pass) {
    const auto now = std::chrono::milliseconds(pass * 10);
    share = overhead.over_last_minute(kStart + now, {}, std::min(now, 100s + now / 2));
  }
  EXPECT_DOUBLE_EQ(share.value_or(-1), 0.5);
}

TEST(Overhead, IsUnknownWhenNoTimeHasPassed) {
  Overhead overhead(1);
  (void)overhead.over_last_minute(kStart, {}, 0s);
  EXPECT_EQ(overhead.over_last_minute(kStart, {}, 1s), std::nullopt);
}

TEST(Overhead, OfThisProcessGrows) {
  const auto before = own_cpu_time();
  EXPECT_GT(before, 0ns);
  while (own_cpu_time() == before) {
  }
  EXPECT_GT(own_cpu_time(), before);
}

}  // namespace
}  // namespace offcpud
