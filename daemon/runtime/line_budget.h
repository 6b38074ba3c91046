// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace offcpud {

// Admits a number of lines in each period and counts the rest. A period begins with the first line
// after the last period. Single-threaded; the clock must outlive it.
class LineBudget {
 public:
  LineBudget(const Clock& clock, std::uint32_t lines,
             std::chrono::seconds period = std::chrono::minutes(1))
      : clock_(clock), lines_(lines), period_(period) {}

  // Whether a line about this number of things may be logged now.
  bool admit(std::uint64_t things = 1);

  // The number of things in the lines held back in the last period, returned once; 0 while the
  // period lasts.
  std::uint64_t take_left_out();

 private:
  [[nodiscard]] bool period_is_over() const { return !begun_ || clock_.now() - *begun_ >= period_; }

  const Clock& clock_;
  std::uint32_t lines_;
  std::chrono::seconds period_;
  std::optional<MonotonicTime> begun_;  // nullopt: no period has begun
  std::uint32_t admitted_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace offcpud
