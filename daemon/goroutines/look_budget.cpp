// SPDX-License-Identifier: Apache-2.0
#include "goroutines/look_budget.h"

#include <algorithm>
#include <utility>

namespace offcpud {

void LookBudget::set(std::chrono::nanoseconds per_second, MonotonicTime now) {
  refill(now);
  const bool is_first = per_second_ == 0;
  per_second_ = std::chrono::duration<double>(per_second).count();
  if (is_first) left_ = per_second_ * kMostSaved;
}

void LookBudget::refill(MonotonicTime now) {
  if (now <= at_) return;
  const std::chrono::duration<double> passed = now - std::exchange(at_, now);
  left_ = std::min(left_ + passed.count() * per_second_, per_second_ * kMostSaved);
}

MonotonicTime LookBudget::next(MonotonicTime now) {
  refill(now);
  if (left_ > 0) return now;
  if (per_second_ <= 0) return now + std::chrono::hours(1);
  constexpr std::chrono::microseconds kMore{100};
  return now + kMore +
         std::chrono::duration_cast<MonotonicTime::duration>(
             std::chrono::duration<double>(-left_ / per_second_));
}

}  // namespace offcpud
