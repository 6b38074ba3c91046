// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "pipeline/in_progress.h"
#include "pipeline/sample_source.h"
#include "pipeline/series_store.h"

namespace offcpud {

// Checks the accounting identity by cgroup path, from one walk over the threads to the next: what
// of the time that the threads lived is in no counter (docs/semantics.md, "Unaccounted time").
// Single-threaded.
class UnaccountedTime {
 public:
  // Ends an interval. `walk`: what its threads are in; `accounted`: what was credited since the
  // last call.
  void end_interval(const InProgressByPath& walk, const AccountedByPath& accounted);

  // Unaccounted time per lifetime in the interval that ended last, between -1 and 1. Not for a path
  // that was first seen in it, and not when no time passed for it: a thread that left with a wait
  // in progress takes more time along than the others lived.
  [[nodiscard]] const std::map<std::string, double, std::less<>>& ratios() const { return ratios_; }

 private:
  std::map<std::string, OpenTime, std::less<>> open_;  // when the last interval ended
  std::map<std::string, double, std::less<>> ratios_;
};

// Running time of the threads in both walks as the programs counted it, beyond what the scheduler
// counted, as a share of that. nullopt: none of them ran.
std::optional<double> running_deviation(const ThreadWalk& before, const ThreadWalk& now);

}  // namespace offcpud
