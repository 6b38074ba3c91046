// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "offcpud.h"

namespace offcpud {

// One blocked episode that a histogram counts, and the id of its stack.
struct Exemplar {
  std::uint64_t duration_ns = 0;
  WallTime ended;
  std::uint32_t pid = 0;    // in the daemon's PID namespace; 0: not in it
  std::uint64_t stack = 0;  // snapshot/stack_id.h
  std::uint64_t round = 0;  // rises with each snapshot that has exemplars

  friend bool operator==(const Exemplar&, const Exemplar&) = default;
};

// The exemplars of one subject by reason, each list by rising duration.
using KindExemplars = std::array<std::vector<Exemplar>, OFFCPUD_BLOCKED_KINDS>;

}  // namespace offcpud
