// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// Identifies one block of one thread for as long as the daemon runs: the kernel programs always
// report the same since_ns for a block.
struct StallId {
  std::uint32_t tid = 0;       // in the initial PID namespace
  std::uint64_t since_ns = 0;  // CLOCK_MONOTONIC

  friend bool operator==(const StallId&, const StallId&) = default;
  friend bool operator<(const StallId& a, const StallId& b) {
    return a.tid != b.tid ? a.tid < b.tid : a.since_ns < b.since_ns;
  }
};

}  // namespace offcpud
