// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "api/query_parameters.h"
#include "attribution/cgroup_filter.h"
#include "base/clock.h"
#include "base/result.h"
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

// The parameters of /api/v1/changes.
struct ChangesQuery {
  struct Range {
    WallTime from, to;
  };

  Range range, base;       // base: the earlier one
  bool by_default = true;  // no time was asked for, so what is kept decides
  CgroupFilter cgroup;
  std::bitset<kChangeKinds> kinds = ~std::bitset<kChangeKinds>();
  std::string site;   // complete name; empty: all
  bool idle = false;  // also waits for work, timers and children of one's own
  std::size_t limit = 20;
  bool as_text = false;

  // Accepts each parameter at most once. Relative times such as -10min are before `now`. Error
  // (ErrorKind::Usage): names an unknown parameter or a value that is not allowed, and says what
  // is.
  static Result<ChangesQuery> parse(const Parameters& parameters, WallTime now);

  static constexpr std::chrono::minutes kRange{10};
  static constexpr std::chrono::minutes kBase{60};
  static constexpr std::size_t kMostLimit = 10'000;
};

}  // namespace offcpud
