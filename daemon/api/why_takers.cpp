// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "api/why_sources.h"
#include "pipeline/taker.h"

namespace offcpud {
namespace {

UnitTaker::By kind_of(std::string_view unit, std::string_view by, std::string_view cgroup) {
  if (by == unit) return UnitTaker::By::Same;
  if (cgroup == kKernelTaker) return UnitTaker::By::Kernel;
  if (cgroup == kIdleTaker) return UnitTaker::By::Idle;
  if (cgroup == kUnknownCgroup) return UnitTaker::By::Unknown;
  if (cgroup == kOtherCgroup || cgroup == kRemovedCgroup || is_removed_series(cgroup)) {
    return UnitTaker::By::Others;
  }
  return UnitTaker::By::Unit;
}

}  // namespace

Source<UnitTaker> takers_of(const View& view, std::chrono::milliseconds window, UnitNames& names) {
  Source<UnitTaker> source;
  source.missing = "nobody tells who had the CPU";
  std::map<std::tuple<std::string, UnitTaker::By, std::string>, UnitTaker> sums;
  for (const SubjectSeries& row : view.subjects) {
    if (!row.kept_off) continue;
    const std::string& unit = names.of(row.labels->cgroup);
    for (const Taker& taker : kept_off_within(view, row.labels->cgroup, window)) {
      // Waits by cpu.max are told apart.
      if (taker.by->cgroup == kThrottledTaker) continue;
      const std::string& by = names.of(taker.by->cgroup);
      const UnitTaker::By kind = kind_of(unit, by, taker.by->cgroup);
      const std::string name = kind == UnitTaker::By::Unit ? by : std::string();
      UnitTaker& sum = sums[{unit, kind, name}];
      sum.unit = unit;
      sum.kind = kind;
      sum.by = name;
      sum.ns += static_cast<double>(taker.ns);
    }
  }
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  if (view.kept_off_steps.empty()) return source;
  const auto remembered = view.taken - view.kept_off_steps.front()->taken;
  source.seconds = std::chrono::duration<double>(
                       std::min<std::chrono::nanoseconds>(remembered, window))
                       .count();
  return source;
}

}  // namespace offcpud
