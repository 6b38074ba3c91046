// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sample.h"

namespace offcpud {

// Selects blocks by what is known when they end. The kernel samples all that any window wants
// (SampleChoice); each window filters them.
struct BlockFilter {
  static constexpr std::uint32_t kAllKinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
  static constexpr std::uint64_t kNoMaximum = OFFCPUD_SAMPLE_NO_MAXIMUM;

  std::optional<std::uint32_t> pid, tid;  // in the daemon's PID namespace
  std::uint32_t kinds = kAllKinds;        // bits by enum offcpud_hist_kind
  bool user_threads = true;
  bool kernel_threads = true;
  std::uint64_t min_ns = 0;  // length of the block
  std::uint64_t max_ns = kNoMaximum;
  std::optional<std::uint32_t> task_state;  // TASK_*: at least one of these bits; 0: no block

  friend bool operator==(const BlockFilter&, const BlockFilter&) = default;

  // Matches nothing. The start for include().
  static BlockFilter none() {
    BlockFilter filter;
    filter.kinds = 0;
    filter.user_threads = filter.kernel_threads = false;
    filter.min_ns = kNoMaximum;
    filter.max_ns = 0;
    filter.task_state = 0;
    return filter;
  }

  // Widens this filter to match all that it or `other` matches, in every process.
  void include(const BlockFilter& other) {
    pid = tid = std::nullopt;
    kinds |= other.kinds;
    user_threads = user_threads || other.user_threads;
    kernel_threads = kernel_threads || other.kernel_threads;
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    if (task_state && other.task_state) {
      *task_state |= *other.task_state;
    } else {
      task_state.reset();
    }
  }

  [[nodiscard]] bool matches(const offcpud_sample& sample) const {
    if (pid && *pid != sample.local_tgid) return false;
    if (tid && *tid != sample.local_tid) return false;
    if (((kinds >> (sample.kind & 31U)) & 1U) == 0) return false;
    const bool kernel_thread = (sample.flags & OFFCPUD_SAMPLE_KERNEL_THREAD) != 0;
    if (kernel_thread ? !kernel_threads : !user_threads) return false;
    const std::uint64_t length = sample.ended_ns - sample.since_ns;
    if (length < min_ns || length > max_ns) return false;
    return !task_state || (sample.task_state & *task_state) != 0;
  }
};

}  // namespace offcpud
