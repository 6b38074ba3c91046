// SPDX-License-Identifier: Apache-2.0
#include "stacks/sampling_rate.h"

#include <algorithm>

namespace offcpud {

SamplingRate::SamplingRate(double per_second, std::chrono::nanoseconds initial)
    : interval_(std::clamp(initial, kLeast, kMost)) {
  set_budget(per_second);
}

std::chrono::nanoseconds SamplingRate::adapt(double samples, std::chrono::nanoseconds elapsed) {
  if (elapsed.count() <= 0) return interval_;
  const double rate = samples / std::chrono::duration<double>(elapsed).count();
  const double factor = std::clamp(rate / budget_, 0.5, 2.0);
  const auto wanted = std::chrono::nanoseconds(
      static_cast<std::int64_t>(factor * static_cast<double>(interval_.count())));
  interval_ = std::clamp(wanted, kLeast, kMost);
  return interval_;
}

}  // namespace offcpud
