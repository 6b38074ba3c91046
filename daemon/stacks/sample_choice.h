// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "stacks/block_filter.h"
#include "stacks/sampling_intervals.h"

namespace offcpud {

// Which blocks the kernel samples, and how densely; see bpf/sample.bpf.h.
struct SampleChoice {
  // For all processes. With a `max_ns`, blocks in progress are not accounted, because they may
  // exceed it.
  BlockFilter blocks = BlockFilter::none();
  SamplingIntervals intervals{std::chrono::milliseconds(10)};
  // Targets: processes and threads, numbered in the daemon's PID namespace, for which the interval
  // is `target_interval` where that is shorter; at most OFFCPUD_TARGETS.
  std::vector<std::uint32_t> targets{};
  std::chrono::nanoseconds target_interval = std::chrono::milliseconds(10);
};

}  // namespace offcpud
