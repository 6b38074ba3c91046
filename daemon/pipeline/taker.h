// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"

namespace offcpud {

struct View;

// Who had the CPU, where that was no cgroup: values of the label `by_cgroup`, besides those of
// subject.h. "(other)" are cgroups that are not named, "(unknown)" is what nobody knows, and
// "(removed)" the earlier time of takers that are no longer named.
inline constexpr std::string_view kKernelTaker = "(kernel)";  // kernel threads
inline constexpr std::string_view kIdleTaker = "(idle)";      // nobody: the CPU was being woken
// Nobody: the cgroup's own limit.
inline constexpr std::string_view kThrottledTaker = "(throttled)";

// How long a taker had the CPU while threads of a cgroup waited for it. The taker is a cgroup,
// perhaps the same one, or one of the names above.
struct Taker {
  std::shared_ptr<const SubjectLabels> by;  // never null
  std::uint64_t ns = 0;
};

// Everybody who had the CPU while threads of one cgroup waited for it, since the start; sorted by
// cgroup. Their sum is the time of its ended run-queue waits, without throttled ones. Immutable.
struct KeptOff {
  std::vector<Taker> takers;
};

// What one View of the last minutes said of who kept whom off. Immutable.
struct KeptOffStep {
  struct Row {
    std::shared_ptr<const SubjectLabels> labels;  // who waited
    std::shared_ptr<const KeptOff> kept_off;
  };
  MonotonicTime taken;
  std::vector<Row> rows;  // sorted by cgroup
};

// Who kept the threads of a cgroup off the CPU within a time up to a View.
struct KeptOffWindow {
  std::vector<Taker> takers;           // the longest first; empty: nobody, or unknown
  std::chrono::nanoseconds length{0};  // of this time; 0: the View remembers nothing
};

// Covers the last `window`, or less if the View remembers less.
KeptOffWindow kept_off_within(const View& view, std::string_view cgroup,
                              std::chrono::nanoseconds window);

}  // namespace offcpud
