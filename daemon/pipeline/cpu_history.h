// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hist_kind.h"
#include "pipeline/wait_history.h"

namespace offcpud {

// How the cgroups used CPUs, and waited for them, within about a minute. Exact: the sums of
// WaitSteps. Immutable once it is in a View.
struct CpuStep {
  static constexpr std::size_t kKinds = OFFCPUD_HIST_KINDS - OFFCPUD_BLOCKED_KINDS;

  struct Subject {
    std::shared_ptr<const SubjectLabels> labels;
    std::uint64_t running_ns = 0;
    // By kind; the first is OFFCPUD_BLOCKED_KINDS.
    std::array<std::uint64_t, kKinds> waited_ns{};
  };

  std::chrono::nanoseconds length{0};
  WallTime begin, end;
  std::vector<Subject> subjects;  // sorted by cgroup; those that did neither are left out

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(*this) + subjects.capacity() * sizeof(Subject);
  }
};

// The last hour in steps, oldest first.
using CpuSteps = std::vector<std::shared_ptr<const CpuStep>>;

// The part of `step` that is about CPUs.
std::shared_ptr<const CpuStep> cpu_step_of(const WaitStep& step);

struct CpuHistoryLimits {
  std::chrono::nanoseconds age = std::chrono::minutes(75);  // an hour, and the minutes after it
  std::chrono::nanoseconds step = std::chrono::minutes(1);
  std::size_t bytes = std::size_t{4} << 20;
};

// The last hour of all cgroups' CPU time in steps of a minute, so that a change can be compared
// with what was usual. Beyond its bytes the oldest steps are forgotten. Single-threaded; what
// record() returns is immutable.
class CpuHistory {
 public:
  explicit CpuHistory(CpuHistoryLimits limits = {}) : limits_(limits) {}

  // Adds those steps of WaitHistory::record() that it has not added yet, except the last one, which
  // may still grow. Returns the steps without a gap, oldest first; the last may be shorter.
  CpuSteps record(const std::vector<std::shared_ptr<const WaitStep>>& history);

 private:
  void add(const WaitStep& step);
  [[nodiscard]] std::shared_ptr<const CpuStep> open_step() const;
  void forget_old();

  CpuHistoryLimits limits_;
  MonotonicTime added_;  // the end of the last step that was added
  bool has_added_ = false;
  // The step that is being summed; the keys point into the labels.
  std::map<std::string_view, CpuStep::Subject> sums_;
  std::chrono::nanoseconds length_{0};
  WallTime begin_, end_;
  CpuSteps steps_;         // complete ones
  std::size_t bytes_ = 0;  // of these
};

}  // namespace offcpud
