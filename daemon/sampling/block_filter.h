// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "sample.h"

namespace offcpud {

// Which of the sampled blocks are wanted, by what is known when they end.
struct BlockFilter {
  std::optional<std::uint32_t> pid, tid;  // in the daemon's, and in the initial PID namespace
  bool user_threads = true;
  bool kernel_threads = true;
  std::uint64_t min_ns = 0;  // length of the block
  std::uint64_t max_ns = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint32_t> task_state;  // TASK_*: at least one of these bits; 0: runnable

  friend bool operator==(const BlockFilter&, const BlockFilter&) = default;

  [[nodiscard]] bool matches(const offcpud_sample& sample) const {
    if (pid && *pid != sample.local_tgid) return false;
    if (tid && *tid != sample.tid) return false;
    const bool kernel_thread = (sample.flags & OFFCPUD_SAMPLE_KERNEL_THREAD) != 0;
    if (kernel_thread ? !kernel_threads : !user_threads) return false;
    const std::uint64_t length = sample.ended_ns - sample.since_ns;
    if (length < min_ns || length > max_ns) return false;
    return !task_state || (sample.task_state & *task_state) != 0;
  }
};

}  // namespace offcpud
