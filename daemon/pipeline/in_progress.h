// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "pipeline/reading_source.h"
#include "pipeline/view.h"

namespace offcpud {

// Time of live threads that no counter of their cgroup has yet. The sums are modulo 2^64: the ages
// of ten thousand threads exceed that within weeks, so only differences are meaningful.
struct OpenTime {
  std::uint64_t in_progress_ns = 0;  // of states that are accounted when they end
  std::uint64_t unaccounted_ns = 0;  // may be "negative"
};

// The states that the live threads of one cgroup path are in.
struct CgroupInProgress {
  WaitsInProgress waits;
  OpenTime open;
};
using InProgressByPath = std::map<std::string, CgroupInProgress, std::less<>>;

// Adds the waits of another cgroup: counts add up, the older age stays. The ratio is left out.
void add_waits(WaitsInProgress& into, const WaitsInProgress& more);

// Covers every path with a thread that has not ended. `stall_bounds`: kMaxStallBounds at most.
// Calls `path_of` once per cgroup id. docs/semantics.md, "Waits in progress", defines what counts
// where.
InProgressByPath waits_in_progress(const ThreadWalk& walk,
                                   std::span<const std::chrono::milliseconds> stall_bounds,
                                   const std::function<std::string(std::uint64_t)>& path_of);

}  // namespace offcpud
