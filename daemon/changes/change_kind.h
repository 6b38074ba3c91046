// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/wait_for.h"

namespace offcpud {

// What a row of changes is about: a WaitFor, or a wait for a CPU.
inline constexpr std::size_t kCpuWait = kWaitForNames.size();  // in a run queue
inline constexpr std::size_t kThrottledWait = kCpuWait + 1;    // the same, by cpu.max
inline constexpr std::size_t kChangeKinds = kThrottledWait + 1;
inline constexpr std::array<std::string_view, kChangeKinds> kChangeKindNames = {
    "lock", "answer", "storage", "memory", "stopped",
    "work", "timer",  "unknown", "cpu",    "throttled"};
static_assert(kChangeKindNames[kWaitForNames.size() - 1] == kWaitForNames.back());

constexpr bool is_idle_kind(std::size_t kind) {
  return kind < kCpuWait && is_idle(static_cast<WaitFor>(kind));
}

}  // namespace offcpud
