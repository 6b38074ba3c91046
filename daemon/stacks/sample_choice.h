// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "sample.h"

namespace offcpud {

// Which blocks are sampled; see bpf/sample.bpf.h.
struct SampleChoice {
  std::uint32_t kinds = 0;    // bits by enum offcpud_hist_kind; 0: none
  std::uint32_t threads = 0;  // OFFCPUD_SAMPLE_PROGRAMS | OFFCPUD_SAMPLE_KERNEL_THREADS
  std::uint32_t states = 0;   // TASK_* of the kernel, one of which the thread is in; 0: any
  std::uint64_t min_ns = 0;   // length of the whole block
  std::uint64_t max_ns = OFFCPUD_SAMPLE_NO_MAXIMUM;  // else blocks that last are not credited
  std::chrono::nanoseconds interval = std::chrono::milliseconds(10);
  // Processes and threads, by their numbers in the daemon's PID namespace, whose interval is this
  // one if it is shorter; at most OFFCPUD_TARGETS.
  std::vector<std::uint32_t> focuses{};
  std::chrono::nanoseconds focus_interval = std::chrono::milliseconds(10);
};

}  // namespace offcpud
