// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace offcpud {

// CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(): it does not advance while the host is
// suspended.
using MonotonicTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

// Seam for tests: time moves only when they say so.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual MonotonicTime now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall() const override { return std::chrono::system_clock::now(); }
};

}  // namespace offcpud
