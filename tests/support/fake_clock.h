// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace offcpud {

// Time moves only when told.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override {
    return WallTime(now_.time_since_epoch() + wall_offset_);
  }
  void advance(std::chrono::nanoseconds step) { now_ += step; }

  // Somebody sets the wall clock.
  void step_wall(std::chrono::nanoseconds step) { wall_offset_ += step; }

 private:
  MonotonicTime now_{std::chrono::hours(1)};
  std::chrono::nanoseconds wall_offset_{0};
};

}  // namespace offcpud
