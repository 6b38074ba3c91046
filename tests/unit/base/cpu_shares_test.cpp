// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_shares.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ShareOwner kUser = 1000, kOtherUser = 1001;

TEST(CpuShares, WhatIsSpentComesBackSlowly) {
  CpuShares shares({.at_once = seconds(30), .per_second = 0.1});
  const MonotonicTime now{seconds(1000)};
  EXPECT_EQ(shares.left(kUser, now), seconds(30));
  shares.spend(kUser, seconds(20), now);
  EXPECT_EQ(shares.left(kUser, now), seconds(10));
  EXPECT_EQ(shares.left(kOtherUser, now), seconds(30));
  EXPECT_EQ(shares.left(kUser, now + seconds(50)), seconds(15));
  EXPECT_EQ(shares.left(kUser, now + seconds(1000)), seconds(30));
  EXPECT_EQ(shares.next_time(kUser, now), now);
}

// The clock begins with the host, and so does the daemon.
TEST(CpuShares, AllOfItIsThereWhenTheHostHasJustStarted) {
  CpuShares shares({.at_once = seconds(30), .per_second = 0.1});
  const MonotonicTime now{seconds(10)};
  shares.spend(kUser, seconds(2), now);
  EXPECT_EQ(shares.left(kUser, now), seconds(28));
}

TEST(CpuShares, SaysFromWhenOnThereIsSome) {
  CpuShares shares({.at_once = seconds(30), .per_second = 0.1});
  const MonotonicTime now{seconds(1000)};
  shares.spend(kUser, seconds(31), now);
  EXPECT_EQ(shares.left(kUser, now), seconds(-1));
  const MonotonicTime next = shares.next_time(kUser, now);
  EXPECT_GT(shares.left(kUser, next), seconds(0));
  EXPECT_LE(shares.left(kUser, next - milliseconds(1)), seconds(0));
}

TEST(CpuShares, ForgetsWhoHasSpentNothing) {
  CpuShares shares({});
  MonotonicTime now{seconds(1000)};
  for (std::uint32_t uid = 1; uid <= 100; ++uid) shares.spend(uid, milliseconds(100), now);
  EXPECT_EQ(shares.size(), 100U);
  now += seconds(2);
  shares.spend(kUser, milliseconds(1), now);
  EXPECT_EQ(shares.size(), 1U);
}

TEST(CpuShares, TellsTheTimeOfThisThread) {
  const auto before = thread_cpu_time();
  while (thread_cpu_time() - before < milliseconds(2)) continue;
  EXPECT_LT(thread_cpu_time() - before, seconds(2));
}

}  // namespace
}  // namespace offcpud
