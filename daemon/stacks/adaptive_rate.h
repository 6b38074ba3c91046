// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "stacks/sampling_rate.h"

namespace offcpud {

// A sampling rate that counts samples and adapts to their number. Single-threaded.
class AdaptiveRate {
 public:
  AdaptiveRate(double per_second, std::chrono::nanoseconds initial, MonotonicTime now)
      : rate_(per_second, initial), adapted_(now) {}

  void set_budget(double per_second) { rate_.set_budget(per_second); }

  void count(double samples) { samples_ += samples; }

  // Adapts the interval to the samples counted since the last call. Returns whether it changed.
  bool adapt(MonotonicTime now) {
    const auto before = rate_.interval();
    const auto elapsed = now - std::exchange(adapted_, now);
    return rate_.adapt(std::exchange(samples_, 0.0), elapsed) != before;
  }

  [[nodiscard]] std::chrono::nanoseconds interval() const { return rate_.interval(); }

 private:
  SamplingRate rate_;
  double samples_ = 0;
  MonotonicTime adapted_;
};

}  // namespace offcpud
