// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/wait_for.h"
#include "histogram/wait_estimate.h"
#include "pipeline/wait_window.h"
#include "sampler/window_paths.h"

namespace offcpud {

// Sums the waits that ended within a window, by cgroup and by what they were for. `paths` must
// outlive it.
class EndedSums {
 public:
  explicit EndedSums(WindowPaths& paths) : paths_(paths) {}

  void add(std::uint64_t cgroup_id, WaitFor wait_for, const WaitEstimate& waits) {
    if (waits.slots.empty()) return;
    sums_[{paths_.of(cgroup_id), wait_for}] += waits;
  }

  std::vector<EndedWaits> take() && {
    std::vector<EndedWaits> ended;
    ended.reserve(sums_.size());
    for (auto& [key, waits] : sums_) {
      ended.push_back({.cgroup = key.first, .wait_for = key.second, .waits = std::move(waits)});
    }
    return ended;
  }

 private:
  WindowPaths& paths_;
  std::map<std::pair<std::string, WaitFor>, WaitEstimate> sums_;
};

}  // namespace offcpud
