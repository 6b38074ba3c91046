// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>

#include "pipeline/cpu_history.h"
#include "pipeline/view.h"

namespace offcpud {

// Where one thread leaves the last hour of CPU time for all others.
class CpuHistoryBoard {
 public:
  // Call it with each View; one thread does.
  void record(const View& view) {
    auto steps = history_.record(view.history);
    const std::lock_guard lock(mutex_);
    steps_ = std::move(steps);
  }

  // Oldest first, up to some seconds before the last View. Any thread may call it.
  [[nodiscard]] CpuSteps steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

 private:
  CpuHistory history_;
  mutable std::mutex mutex_;
  CpuSteps steps_;
};

}  // namespace offcpud
