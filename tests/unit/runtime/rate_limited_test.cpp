// SPDX-License-Identifier: Apache-2.0
#include "runtime/rate_limited.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

using namespace std::chrono_literals;

class SteppedClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override { return {}; }
  void advance(std::chrono::milliseconds step) { now_ += step; }

 private:
  MonotonicTime now_{};
};

TEST(RateLimited, LetsTheFirstLineThrough) {
  const SteppedClock clock;
  RateLimited limit(clock);
  EXPECT_EQ(limit.admit("disk", "full"), "full");
}

TEST(RateLimited, HoldsBackTheSameSiteForAMinute) {
  SteppedClock clock;
  RateLimited limit(clock);
  (void)limit.admit("disk", "full");
  clock.advance(59'999ms);
  EXPECT_EQ(limit.admit("disk", "full"), std::nullopt);
  clock.advance(1ms);
  EXPECT_EQ(limit.admit("disk", "full"), "full (1 more suppressed)");
}

TEST(RateLimited, CountsAnewAfterEachLine) {
  SteppedClock clock;
  RateLimited limit(clock);
  for (int i = 0; i < 1'000; ++i) (void)limit.admit("disk", "full");
  clock.advance(60s);
  EXPECT_EQ(limit.admit("disk", "still full"), "still full (999 more suppressed)");
  clock.advance(60s);
  EXPECT_EQ(limit.admit("disk", "still full"), "still full");
}

TEST(RateLimited, SitesDoNotSilenceEachOther) {
  const SteppedClock clock;
  RateLimited limit(clock);
  (void)limit.admit("disk", "full");
  EXPECT_EQ(limit.admit("net", "down"), "down");
}

}  // namespace
}  // namespace offcpud
