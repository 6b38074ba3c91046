// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/clock.h"

namespace offcpud {

// CPU time that may be spent: a fixed amount in each second, on average. Single-threaded.
class LookBudget {
 public:
  // What was not spent can be spent later, but only the amount of this many seconds. The first
  // programs are looked at without delay.
  static constexpr double kMostSaved = 5;

  explicit LookBudget(MonotonicTime now) : at_(now) {}

  // `per_second`: CPU time, from now on.
  void set(std::chrono::nanoseconds per_second, MonotonicTime now);

  void pay(std::chrono::nanoseconds cpu) { left_ -= std::chrono::duration<double>(cpu).count(); }
  // From when on something may be spent; `now` or earlier: at once.
  [[nodiscard]] MonotonicTime next(MonotonicTime now);

 private:
  void refill(MonotonicTime now);

  double per_second_ = 0, left_ = 0;  // seconds
  MonotonicTime at_;
};

}  // namespace offcpud
