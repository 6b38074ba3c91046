// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/wait_for.h"
#include "offcpud.h"

namespace offcpud {

// One blocked episode that a histogram counts, and the id of its stack.
struct Exemplar {
  std::uint64_t duration_ns = 0;
  WallTime ended;
  std::uint32_t pid = 0;    // in the daemon's PID namespace; 0: not in it
  std::uint64_t stack = 0;  // snapshot/stack_id.h
  std::uint64_t round = 0;  // number of the snapshot among those with exemplars

  friend bool operator==(const Exemplar&, const Exemplar&) = default;
};

// The exemplars of one subject by reason, and behind these by what the block was for (place_of()),
// each list by ascending duration.
using KindExemplars =
    std::array<std::vector<Exemplar>, OFFCPUD_BLOCKED_KINDS + kWaitForNames.size()>;

constexpr std::size_t place_of(WaitFor wait_for) {
  return OFFCPUD_BLOCKED_KINDS + static_cast<std::size_t>(wait_for);
}

}  // namespace offcpud
