// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace offcpud {

// CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(): it does not advance while the host is
// suspended.
using MonotonicTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

inline constexpr double kNsPerSecond = 1e9;

inline double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// As bpf_ktime_get_ns() gives it.
inline std::uint64_t ns_of(MonotonicTime time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
}

// How far CLOCK_BOOTTIME, in which the kernel gives the start of threads, is ahead of
// CLOCK_MONOTONIC: the total time for which the host has been suspended.
inline std::chrono::nanoseconds suspended_time() {
  const auto read = [](clockid_t clock) {
    timespec time{};
    (void)::clock_gettime(clock, &time);  // fails for unknown clocks only
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const std::chrono::nanoseconds monotonic = read(CLOCK_MONOTONIC);
  return std::max(read(CLOCK_BOOTTIME) - monotonic, std::chrono::nanoseconds(0));
}

// Seam for tests, in which time advances only when the test says so.
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
