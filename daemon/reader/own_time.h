// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "base/unique_handle.h"

namespace offcpud {

// Where the time of this thread goes. Used by one thread.
class OwnTime {
 public:
  OwnTime();

  // From here on.
  void begin();
  // Since then, without what it ran and waited for a CPU.
  [[nodiscard]] std::chrono::nanoseconds blocked() const;

  static std::chrono::nanoseconds cpu();

 private:
  // Waiting for a CPU; 0 where the kernel does not tell (CONFIG_SCHED_INFO).
  [[nodiscard]] std::chrono::nanoseconds delayed() const;

  UniqueFd schedstat_;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::nanoseconds cpu_begun_{};
  std::chrono::nanoseconds delayed_begun_{};
};

// Whether the kernel would run this process if there were a CPU. Takes no lock that could be held
// by somebody who waits.
bool is_runnable(pid_t pid);

}  // namespace offcpud
