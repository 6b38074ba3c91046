// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace offcpud::test {

// In nanoseconds, as the kernel's programs count.
inline constexpr std::uint64_t kMs = 1'000'000, kSecond = 1'000 * kMs;

// So long after the zero of the monotonic clock.
inline MonotonicTime at(int seconds) {
  return MonotonicTime(std::chrono::seconds(seconds));
}

// By the wall clock: 2026-11-20T12:00:00Z.
inline constexpr WallTime kNow{std::chrono::seconds(1'795'176'000)};

}  // namespace offcpud::test
