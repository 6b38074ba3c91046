// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "base/unique_handle.h"

namespace offcpud {

// Measures how this thread spends its time. Used by one thread.
class OwnTime {
 public:
  OwnTime();

  // Starts a measurement.
  void begin();
  // Time since begin() in which the thread neither ran nor waited for a CPU.
  [[nodiscard]] std::chrono::nanoseconds blocked() const;

  static std::chrono::nanoseconds cpu();

 private:
  // Time spent waiting for a CPU; 0 if the kernel does not tell (CONFIG_SCHED_INFO).
  [[nodiscard]] std::chrono::nanoseconds delayed() const;

  UniqueFd schedstat_;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::nanoseconds cpu_begun_{};
  std::chrono::nanoseconds delayed_begun_{};
};

// Whether the process runs or only lacks a CPU. Takes no lock that a waiting process could hold.
bool is_runnable(pid_t pid);

}  // namespace offcpud
