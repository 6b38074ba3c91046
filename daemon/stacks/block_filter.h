// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sample.h"

namespace offcpud {

// Which of the sampled blocks are wanted, by what is known when they end.
struct BlockFilter {
  static constexpr std::uint32_t kAllKinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
  static constexpr std::uint64_t kNoMaximum = OFFCPUD_SAMPLE_NO_MAXIMUM;

  std::optional<std::uint32_t> pid, tid;  // in the daemon's, and in the initial PID namespace
  std::uint32_t kinds = kAllKinds;        // bits by enum offcpud_hist_kind
  bool user_threads = true;
  bool kernel_threads = true;
  std::uint64_t min_ns = 0;  // length of the block
  std::uint64_t max_ns = kNoMaximum;
  std::optional<std::uint32_t> task_state;  // TASK_*: at least one of these bits; 0: runnable

  friend bool operator==(const BlockFilter&, const BlockFilter&) = default;

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
