// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "pipeline/sample_source.h"
#include "pipeline/view.h"

namespace offcpud {

// Time of live threads that is in no counter of their cgroup. Sums modulo 2^64: the ages of ten
// thousand threads exceed it within weeks, so only differences mean something.
struct OpenTime {
  std::uint64_t in_progress_ns = 0;  // of states that will be credited when they end
  std::uint64_t unaccounted_ns = 0;  // may be "negative"
};

// What the live threads of one cgroup path are in.
struct CgroupInProgress {
  WaitsInProgress waits;
  OpenTime open;
};
using InProgressByPath = std::map<std::string, CgroupInProgress, std::less<>>;

// For the threads of two cgroups together: numbers add up, ages are those of the older. No ratio.
void add_waits(WaitsInProgress& into, const WaitsInProgress& more);

// Every path that has a thread which has not ended. `stall_bounds`: kMaxStallBounds at most.
// `path_of` is asked once per cgroup id. What counts where: docs/semantics.md, "Waits in progress".
InProgressByPath waits_in_progress(const ThreadWalk& walk,
                                   std::span<const std::chrono::milliseconds> stall_bounds,
                                   const std::function<std::string(std::uint64_t)>& path_of);

}  // namespace offcpud
