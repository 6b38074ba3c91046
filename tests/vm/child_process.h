// SPDX-License-Identifier: Apache-2.0
// Children of the probe: how they are made, how they end, and what /proc says about them meanwhile.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "report.h"

namespace offcpud::test {

std::uint64_t now_ns();                          // CLOCK_MONOTONIC
void sleep_for(std::chrono::milliseconds time);  // less than a second

// The body must not return.
template <class Body>
pid_t fork_to(Body body) {
  const pid_t child = ::fork();
  must(child >= 0, "fork");
  if (child == 0) body();
  return child;
}

void reap(pid_t child);  // gives up unless it exited with 0

// A number in /proc/PID/status.
std::uint64_t status_number(pid_t process, const char* field);
[[nodiscard]] bool is_asleep(pid_t process);

}  // namespace offcpud::test
