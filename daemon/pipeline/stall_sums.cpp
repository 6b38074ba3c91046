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

SubjectSeries* row_or_other(View& view, std::string_view cgroup) {
  SubjectSeries* const row = row_of(view, cgroup);
  return row != nullptr ? row : row_of(view, kOtherCgroup);
}

void add(StallsInProgress& sum, WaitFor wait_for, std::uint32_t threads, std::uint64_t oldest_ns) {
  const auto place = static_cast<std::size_t>(wait_for);
  sum.shown |= 1U << place;
  sum.threads[place] += threads;
  sum.oldest_ns[place] = std::max(sum.oldest_ns[place], oldest_ns);
}

}  // namespace

void sum_stalls(View& view) {
  if (!view.stalls) return;
  std::map<SubjectSeries*, StallsInProgress> sums;
  for (const auto& stall : view.stalls->stalls) {
    SubjectSeries* const row = row_or_other(view, stall->labels->cgroup);
    if (row == nullptr) continue;
    const WaitFor wait_for = stall->wait ? stall->wait->wait_for : WaitFor::Unknown;
    const bool ended = stall->ended;
    add(sums[row], wait_for, ended ? 0 : 1, ended ? 0 : stall->duration_ns);
  }
  for (const UnlistedStalls& each : view.stalls->unlisted) {
    SubjectSeries* const row = row_or_other(view, each.labels->cgroup);
    if (row != nullptr) add(sums[row], each.wait_for, each.threads, each.oldest.ns);
  }
  for (auto& [row, sum] : sums) row->stalls = std::make_shared<const StallsInProgress>(sum);
}

void sum_deadlocks(View& view) {
  if (!view.deadlocks) return;
  for (const Deadlock& deadlock : *view.deadlocks) {
    for (const HeldWait& thread : deadlock) {
      if (SubjectSeries* const row = row_or_other(view, thread.cgroup)) ++row->deadlocked;
    }
  }
}

}  // namespace offcpud
