// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/wait_for.h"

namespace offcpud {

// What goroutines of one process waited for at one place within a window. They are no threads:
// their time is not part of what threads waited.
struct GoroutineWaits {
  std::uint32_t pid = 0;               // in the daemon's PID namespace
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  std::string cgroup;                  // path, of the process
  std::string program;                 // name of the file
  WaitFor wait_for = WaitFor::Unknown;
  std::string site;      // empty: no rule took them
  std::string reason;    // as Go's runtime calls it: "chan receive"; empty: several
  std::string function;  // of the program, that waits: "main.pay"; empty: not known, or several
  double ns = 0;         // within the window, about
  double now = 0;        // goroutines, at the last look, about
  // For how long one of these has waited, at least; 0: not known.
  std::uint64_t longest_ns = 0;
};

// What goroutines waited for within some seconds. Immutable.
struct GoroutineWindow {
  // The rest of the rows of a process have neither reason nor function.
  static constexpr std::size_t kMostRows = 1'000;

  MonotonicTime begin{}, end{};
  std::vector<GoroutineWaits> waits;  // the longest first

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
};

}  // namespace offcpud
