// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "base/wait_for.h"

namespace offcpud {

// What sampled waits of one stratum were for, in nanoseconds.
struct KnownWaits {
  double actionable_ns = 0, idle_ns = 0, unknown_ns = 0;

  void add(WaitFor wait_for, double ns) {
    (actionable(wait_for) ? actionable_ns : is_idle(wait_for) ? idle_ns : unknown_ns) += ns;
  }
  KnownWaits& operator+=(const KnownWaits& other) {
    actionable_ns += other.actionable_ns;
    idle_ns += other.idle_ns;
    unknown_ns += other.unknown_ns;
    return *this;
  }
};

// By stratum (stacks/sampling_intervals.h); strata without waits are absent.
using StratumTimes = std::map<std::size_t, KnownWaits>;

// Passes such times from the thread that says what waits are for to the one that divides the budget
// of stacks. Thread-safe. What is not taken adds up, in at most one entry for each stratum.
class StratumTimesBoard {
 public:
  void add(const StratumTimes& times) {
    const std::lock_guard lock(mutex_);
    for (const auto& [stratum, waits] : times) times_[stratum] += waits;
  }

  // What was added since the last call.
  [[nodiscard]] StratumTimes take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(times_, {});
  }

 private:
  std::mutex mutex_;
  StratumTimes times_;
};

}  // namespace offcpud
