// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace offcpud {

// The age of a block in progress. A value type.
struct WaitAge {
  std::uint64_t ns = 0;    // 0: unknown
  bool estimated = false;  // it began before the daemon did

  // The age of the same block this much later; an unknown age stays unknown.
  [[nodiscard]] WaitAge after(std::chrono::nanoseconds time) const {
    const auto more = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    return {.ns = ns == 0 ? 0 : ns + more, .estimated = estimated};
  }
  // Keeps the older of both.
  void merge(const WaitAge& other) {
    if (other.ns > ns) *this = other;
  }
};

}  // namespace offcpud
