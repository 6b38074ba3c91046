// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "pipeline/in_progress.h"
#include "pipeline/reading_source.h"
#include "pipeline/series_store.h"

namespace offcpud {

// Checks the accounting identity by cgroup path between two walks over the threads: how much of the
// threads' lifetime is in no counter (docs/semantics.md, "Unaccounted time"). Single-threaded.
class UnaccountedTime {
 public:
  // Ends an interval. `walk`: the states of its threads; `accounted`: what was accounted since the
  // last call.
  void end_interval(const InProgressByPath& walk, const AccountedByPath& accounted);

  // Unaccounted time divided by lifetime in the last interval, between -1 and 1. Leaves out paths
  // that were first seen in it, and paths whose lifetime is not positive: a thread that moves away
  // in the middle of a wait can take more time along than the others lived.
  [[nodiscard]] const std::map<std::string, double, std::less<>>& ratios() const { return ratios_; }

 private:
  std::map<std::string, OpenTime, std::less<>> open_;  // at the end of the last interval
  std::map<std::string, double, std::less<>> ratios_;
};

// How much more running time the programs counted than the scheduler, relative to the scheduler's,
// over threads in both walks. nullopt: none of them ran.
std::optional<double> running_deviation(const ThreadWalk& before, const ThreadWalk& now);

}  // namespace offcpud
