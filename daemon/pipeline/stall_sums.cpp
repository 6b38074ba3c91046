// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_sums.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "attribution/subject.h"
#include "pipeline/stall.h"

namespace offcpud {
namespace {

SubjectSeries* row_of(View& view, std::string_view cgroup) {
  const auto row = std::ranges::lower_bound(
      view.subjects, cgroup, {}, [](const SubjectSeries& each) { return each.labels->cgroup; });
  return row != view.subjects.end() && row->labels->cgroup == cgroup ? &*row : nullptr;
}

}  // namespace

void sum_stalls(View& view) {
  if (!view.stalls) return;
  std::map<SubjectSeries*, StallsInProgress> sums;
  for (const auto& stall : view.stalls->stalls) {
    SubjectSeries* row = row_of(view, stall->labels->cgroup);
    if (row == nullptr) row = row_of(view, kOtherCgroup);
    if (row == nullptr) continue;
    const WaitFor wait_for = stall->wait ? stall->wait->wait_for : WaitFor::Unknown;
    const auto place = static_cast<std::size_t>(wait_for);
    StallsInProgress& sum = sums[row];
    sum.shown |= 1U << place;
    if (stall->ended) continue;
    ++sum.threads[place];
    sum.oldest_ns[place] = std::max(sum.oldest_ns[place], stall->duration_ns);
  }
  for (auto& [row, sum] : sums) row->stalls = std::make_shared<const StallsInProgress>(sum);
}

}  // namespace offcpud
