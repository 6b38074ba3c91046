// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace offcpud {

// Lets so many lines of one kind through in each period and counts the others. A period begins with
// the first line after the one before. Single-threaded; the clock must outlive it.
class LineBudget {
 public:
  LineBudget(const Clock& clock, std::uint32_t lines,
             std::chrono::seconds period = std::chrono::minutes(1))
      : clock_(clock), lines_(lines), period_(period) {}

  // Whether a line may be logged now.
  bool admit();

  // Lines that were held back in a period that is over; 0 while it lasts, and when it was told.
  std::uint64_t take_left_out();

 private:
  [[nodiscard]] bool period_is_over() const { return !begun_ || clock_.now() - *begun_ >= period_; }

  const Clock& clock_;
  std::uint32_t lines_;
  std::chrono::seconds period_;
  std::optional<MonotonicTime> begun_;  // nullopt: no period has
  std::uint32_t admitted_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace offcpud
