// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// The age of a block in progress. A value type.
struct WaitAge {
  std::uint64_t ns = 0;    // 0: unknown
  bool estimated = false;  // it began before the daemon did

  // Keeps the older of both.
  void merge(const WaitAge& other) {
    if (other.ns > ns) *this = other;
  }
};

}  // namespace offcpud
