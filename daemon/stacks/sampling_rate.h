// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace offcpud {

// The sampling interval that keeps the number of stacks near a budget. Sums over samples are
// unbiased whatever the interval, so it may change at any time. Single-threaded.
class SamplingRate {
 public:
  // Blocks that last longer are all kept, so no interval bounds their number: a thousand threads
  // that sleep for a second each are a thousand stacks a second until the interval is longer.
  static constexpr std::chrono::nanoseconds kLeast = std::chrono::microseconds(100);
  static constexpr std::chrono::nanoseconds kMost = std::chrono::minutes(10);

  // `per_second`: stacks to be taken, at least 1.
  SamplingRate(double per_second, std::chrono::nanoseconds initial);

  void set_budget(double per_second) { budget_ = std::max(per_second, 1.0); }

  // What was taken in the time since the last call. Returns the interval from now on: at most
  // halved or doubled, as one busy second says little about the next.
  std::chrono::nanoseconds adapt(double samples, std::chrono::nanoseconds elapsed);

  [[nodiscard]] std::chrono::nanoseconds interval() const { return interval_; }

 private:
  double budget_ = 1;
  std::chrono::nanoseconds interval_;
};

}  // namespace offcpud
