// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace offcpud {

// The sampling interval that keeps the number of stacks near a budget. Sums over samples are
// unbiased with any interval, so it may change at any time. Single-threaded.
class SamplingRate {
 public:
  // The bounds of the interval. The upper one is far above usual blocks, because blocks longer than
  // the interval are all sampled: a thousand threads that sleep for a second make a thousand stacks
  // a second until the interval is longer.
  static constexpr std::chrono::nanoseconds kLeast = std::chrono::microseconds(100);
  static constexpr std::chrono::nanoseconds kMost = std::chrono::minutes(10);

  // `per_second`: the budget of stacks, at least 1.
  SamplingRate(double per_second, std::chrono::nanoseconds initial);

  void set_budget(double per_second) { budget_ = std::max(per_second, 1.0); }

  // Takes the number of samples in the time since the last call, and returns the new interval. It
  // is at most halved or doubled, because one busy second says little about the next.
  std::chrono::nanoseconds adapt(double samples, std::chrono::nanoseconds elapsed);

  [[nodiscard]] std::chrono::nanoseconds interval() const { return interval_; }

 private:
  double budget_ = 1;
  std::chrono::nanoseconds interval_;
};

}  // namespace offcpud
