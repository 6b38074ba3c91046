// SPDX-License-Identifier: Apache-2.0
#include "push/push_backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST(PushBackoff, DoublesUpToFiveMinutesAndTakesAtMostAHalfOff) {
  PushBackoff backoff(1);
  milliseconds whole = 1s;
  for (int i = 0; i < 40; ++i) {
    const auto wait = backoff.next({});
    EXPECT_LE(wait, whole) << i;
    EXPECT_GE(wait, whole / 2) << i;
    whole = std::min<milliseconds>(whole * 2, 300s);
  }
}

TEST(PushBackoff, HostsThatFailedTogetherComeBackApart) {
  std::set<milliseconds> waits;
  for (std::uint64_t seed = 0; seed < 100; ++seed) waits.insert(PushBackoff(seed).next({}));
  EXPECT_GT(waits.size(), 50U);
}

TEST(PushBackoff, BeginsAnewAfterASuccess) {
  PushBackoff backoff(1);
  for (int i = 0; i < 9; ++i) (void)backoff.next({});
  backoff.reset();
  EXPECT_LE(backoff.next({}), 1s);
}

TEST(PushBackoff, DoesWhatTheServerAsksForUpToAnHour) {
  PushBackoff backoff(1);
  EXPECT_EQ(backoff.next(40s), 40s);
  EXPECT_EQ(backoff.next(999'999'999s), 3600s);
  for (int i = 0; i < 9; ++i) (void)backoff.next({});
  EXPECT_GE(backoff.next(1s), 150s) << "its own wait is longer";
}

}  // namespace
}  // namespace offcpud
