// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "offcpud.h"

namespace offcpud {

// The longest sampling interval that was in force for each reason, by enum offcpud_hist_kind. 0:
// not known, or the reason was not sampled.
using ReasonIntervals = std::array<std::chrono::nanoseconds, OFFCPUD_BLOCKED_KINDS>;

// The longest interval of these reasons (bits).
inline std::chrono::nanoseconds longest_of(const ReasonIntervals& intervals, std::uint64_t kinds) {
  std::chrono::nanoseconds found{0};
  for (std::size_t kind = 0; kind < intervals.size(); ++kind) {
    if (((kinds >> kind) & 1U) != 0) found = std::max(found, intervals[kind]);
  }
  return found;
}

inline void keep_longer(ReasonIntervals& kept, const ReasonIntervals& others) {
  std::ranges::transform(kept, others, kept.begin(),
                         [](auto one, auto other) { return std::max(one, other); });
}

}  // namespace offcpud
