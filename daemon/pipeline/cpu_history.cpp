// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cpu_history.h"

#include <algorithm>
#include <utility>

namespace offcpud {

std::shared_ptr<const CpuStep> cpu_step_of(const WaitStep& step) {
  auto cpu = std::make_shared<CpuStep>();
  cpu->length = step.length();
  cpu->end = step.end_wall;
  cpu->begin = step.end_wall - std::chrono::duration_cast<WallTime::duration>(step.length());
  step.for_each(
      [&](const WaitStep::Subject& subject) {
        cpu->subjects.push_back({.labels = subject.labels, .running_ns = subject.running_ns});
      },
      [&](const WaitStep::Wait& wait) {
        if (is_blocked_kind(wait.kind)) return;
        cpu->subjects.back().waited_ns[wait.kind - OFFCPUD_BLOCKED_KINDS] += wait.waited_ns;
      },
      [](std::size_t, std::uint64_t) {});
  std::erase_if(cpu->subjects, [](const CpuStep::Subject& subject) {
    const bool waited = std::ranges::any_of(subject.waited_ns, [](auto ns) { return ns > 0; });
    return !waited && subject.running_ns == 0;
  });
  return cpu;
}

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
  const auto added = cpu_step_of(step);
  if (length_ == std::chrono::nanoseconds(0)) begin_ = added->begin;
  end_ = added->end;
  length_ += added->length;
  for (const CpuStep::Subject& subject : added->subjects) {
    auto sum = sums_.find(subject.labels->cgroup);
    if (sum == sums_.end()) {
      sum = sums_.emplace(subject.labels->cgroup, CpuStep::Subject{.labels = subject.labels}).first;
    }
    sum->second.running_ns += subject.running_ns;
    for (std::size_t i = 0; i < CpuStep::kKinds; ++i) {
      sum->second.waited_ns[i] += subject.waited_ns[i];
    }
  }
}

std::shared_ptr<const CpuStep> CpuHistory::open_step() const {
  auto step = std::make_shared<CpuStep>();
  step->length = length_;
  step->begin = begin_;
  step->end = end_;
  step->subjects.reserve(sums_.size());
  for (const auto& [cgroup, sum] : sums_) step->subjects.push_back(sum);
  return step;
}

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
