// SPDX-License-Identifier: Apache-2.0
#include "pipeline/taker.h"

#include <algorithm>

#include "pipeline/view.h"

namespace offcpud {
namespace {

// Null: nobody kept it off by then.
const KeptOff* find(const KeptOffStep& step, std::string_view cgroup) {
  const auto found = std::lower_bound(step.rows.begin(), step.rows.end(), cgroup,
                                      [](const KeptOffStep::Row& row, std::string_view wanted) {
                                        return row.labels->cgroup < wanted;
                                      });
  const bool exists = found != step.rows.end() && found->labels->cgroup == cgroup;
  return exists ? found->kept_off.get() : nullptr;
}

std::uint64_t ns_of(const KeptOff* kept_off, std::string_view taker) {
  if (!kept_off) return 0;
  const auto found = std::lower_bound(
      kept_off->takers.begin(), kept_off->takers.end(), taker,
      [](const Taker& one, std::string_view wanted) { return one.by->cgroup < wanted; });
  return found != kept_off->takers.end() && found->by->cgroup == taker ? found->ns : 0;
}

}  // namespace

KeptOffWindow kept_off_within(const View& view, std::string_view cgroup,
                              std::chrono::nanoseconds window) {
  KeptOffWindow found;
  // The last step that is as old as the window, or the oldest.
  const KeptOffStep* begin = nullptr;
  for (const auto& step : view.kept_off_steps) {
    if (begin && view.taken - step->taken < window) break;
    begin = step.get();
  }
  if (!begin) return found;
  found.length = view.taken - begin->taken;
  const auto row = std::lower_bound(view.subjects.begin(), view.subjects.end(), cgroup,
                                    [](const SubjectSeries& series, std::string_view wanted) {
                                      return series.labels->cgroup < wanted;
                                    });
  if (row == view.subjects.end() || row->labels->cgroup != cgroup || !row->kept_off) return found;
  const KeptOff* before = find(*begin, cgroup);
  for (const Taker& taker : row->kept_off->takers) {
    if (taker.by->cgroup == kRemovedCgroup) continue;  // what it gains is old
    const std::uint64_t was = ns_of(before, taker.by->cgroup);
    if (taker.ns > was) found.takers.push_back({taker.by, taker.ns - was});
  }
  std::stable_sort(found.takers.begin(), found.takers.end(),
                   [](const Taker& a, const Taker& b) { return a.ns > b.ns; });
  return found;
}

}  // namespace offcpud
