// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "api/why_rows.h"
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
  std::chrono::nanoseconds length{0};
  for (const SubjectSeries& row : view.subjects) {
    if (!row.kept_off) continue;
    const std::string& unit = names.of(row.labels->cgroup);
    const KeptOffWindow kept_off = kept_off_within(view, row.labels->cgroup, window);
    length = kept_off.length;  // the same of all
    for (const Taker& taker : kept_off.takers) {
      if (taker.by->cgroup == kThrottledTaker) continue;  // its own limit is told apart
      const std::string& by = names.of(taker.by->cgroup);
      UnitTaker::By kind = kind_of(unit, by, taker.by->cgroup);
      std::string name = kind == UnitTaker::By::Unit ? by : std::string();
      if (!has_room(source, sums, std::tuple(unit, kind, name))) {
        kind = UnitTaker::By::Others;
        name.clear();
      }
      UnitTaker& sum = sums[{unit, kind, name}];
      sum.unit = unit;
      sum.kind = kind;
      sum.by = name;
      if (kind == UnitTaker::By::Unknown)
        sum.because = "it is too long ago for the kernel's memory";
      sum.ns += static_cast<double>(taker.ns);
    }
  }
  move_rows(source, sums, length);
  return source;
}

}  // namespace offcpud
