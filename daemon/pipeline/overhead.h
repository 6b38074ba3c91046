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

// What of the host's CPU time the kernel programs and the daemon take. Used by one thread.
class Overhead {
 public:
  explicit Overhead(unsigned cpus) : cpus_(cpus) {}

  // The share of all CPUs' time in the last minute: since the latest call that was at least 60 s
  // ago, or since the first one. Scrapes make passes, and a pass is work: over the short time
  // between two of them its share would be many times what it is on average. nullopt at the first
  // call, or when no time has passed. `daemon`: CPU time of this process since its start.
  std::optional<double> over_last_minute(MonotonicTime now, std::span<const ProgramCost> programs,
                                         std::chrono::nanoseconds daemon);

 private:
  struct Reading {
    MonotonicTime at;
    double spent_ns = 0;
  };
  unsigned cpus_;  // that are online
  // Oldest first, a second apart or more; of those that are a minute old only the latest.
  std::deque<Reading> readings_;
};

unsigned online_cpus();  // at least 1

// CPU time of all threads of this process (CLOCK_PROCESS_CPUTIME_ID). Any thread.
std::chrono::nanoseconds own_cpu_time();

}  // namespace offcpud
