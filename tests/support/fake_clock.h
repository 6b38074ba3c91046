// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace offcpud {

// Time moves only when told.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override { return WallTime(now_.time_since_epoch()); }
  void advance(std::chrono::nanoseconds step) { now_ += step; }

 private:
  MonotonicTime now_{std::chrono::hours(1)};
};

}  // namespace offcpud
