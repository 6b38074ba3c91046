// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// The share of the host's CPU time that the kernel programs and the daemon use. Used by one thread.
class Overhead {
 public:
  explicit Overhead(unsigned cpus) : cpus_(cpus) {}

  // The share of all CPUs' time in the last minute: since the latest call at least 60 s ago, or
  // since the first one. A shorter time would mislead: scrapes cause passes, and between two passes
  // close together the share is many times the average. nullopt: at the first call, or if no time
  // has passed. `daemon`: CPU time of this process since its start.
  std::optional<double> over_last_minute(MonotonicTime now, std::span<const ProgramCost> programs,
                                         std::chrono::nanoseconds daemon);

 private:
  struct Reading {
    MonotonicTime at;
    double spent_ns = 0;
  };
  unsigned cpus_;  // online ones
  // Oldest first, at least a second apart. Of those older than a minute only the latest is kept.
  std::deque<Reading> readings_;
};

unsigned online_cpus();  // at least 1

// CPU time of all threads of this process (CLOCK_PROCESS_CPUTIME_ID). Any thread.
std::chrono::nanoseconds own_cpu_time();

}  // namespace offcpud
