// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cpu_history.h"

#include <algorithm>
#include <utility>

namespace offcpud {

CpuSteps CpuHistory::record(const std::vector<std::shared_ptr<const WaitStep>>& history) {
  for (std::size_t i = 0; i + 1 < history.size(); ++i) {
    const WaitStep& step = *history[i];
    if (has_added_ && step.begin < added_) continue;
    add(step);
    if (length_ < limits_.step) continue;
    auto complete = open_step();
    bytes_ += complete->bytes();
    steps_.push_back(std::move(complete));
    sums_.clear();
    length_ = {};
    forget_old();
  }
  auto all = steps_;
  if (length_ > std::chrono::nanoseconds(0)) all.push_back(open_step());
  return all;
}

void CpuHistory::add(const WaitStep& step) {
  added_ = step.end;
  has_added_ = true;
  if (length_ == std::chrono::nanoseconds(0)) {
    begin_ = step.end_wall - std::chrono::duration_cast<WallTime::duration>(step.length());
  }
  end_ = step.end_wall;
  length_ += step.length();
  CpuStep::Subject* sum = nullptr;
  step.for_each(
      [&](const WaitStep::Subject& subject) {
        const auto found = sums_.find(subject.labels->cgroup);
        if (found != sums_.end()) {
          sum = &found->second;
        } else {
          sum = &sums_[subject.labels->cgroup];
          sum->labels = subject.labels;
        }
        sum->running_ns += subject.running_ns;
      },
      [&](const WaitStep::Wait& wait) {
        if (!is_blocked_kind(wait.kind)) {
          sum->waited_ns[wait.kind - OFFCPUD_BLOCKED_KINDS] += wait.waited_ns;
        }
      },
      [](std::size_t, std::uint64_t) {});
}

std::shared_ptr<const CpuStep> CpuHistory::open_step() const {
  auto step = std::make_shared<CpuStep>();
  step->length = length_;
  step->begin = begin_;
  step->end = end_;
  step->subjects.reserve(sums_.size());
  for (const auto& [cgroup, sum] : sums_) {
    const bool waited = std::ranges::any_of(sum.waited_ns, [](std::uint64_t ns) { return ns > 0; });
    if (waited || sum.running_ns > 0) step->subjects.push_back(sum);
  }
  step->subjects.shrink_to_fit();
  return step;
}

// Keeps at least the newest step, whatever its size.
void CpuHistory::forget_old() {
  std::chrono::nanoseconds kept{0};
  for (const auto& step : steps_) kept += step->length;
  std::size_t old = 0;
  while (old + 1 < steps_.size() && (bytes_ > limits_.bytes || kept > limits_.age)) {
    bytes_ -= steps_[old]->bytes();
    kept -= steps_[old]->length;
    ++old;
  }
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(old));
}

}  // namespace offcpud
