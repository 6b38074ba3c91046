// SPDX-License-Identifier: Apache-2.0
#include "api/usual_lengths.h"

#include <algorithm>

#include "api/unit_purposes.h"
#include "base/hist_kind.h"
#include "base/utc.h"
#include "pipeline/wait_history.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kind_of(WaitFor wait_for) {
  return OFFCPUD_HIST_KINDS + static_cast<std::size_t>(wait_for);
}

}  // namespace

UsualLengths::UsualLengths(const View& view, const std::set<std::string_view>& cgroups)
    : view_(view), until_(view.taken_wall) {
  if (!view.history.empty()) {
    const auto age = view.taken - view.history.front()->begin;
    until_ -= std::chrono::duration_cast<WallTime::duration>(age);
  }
  for (const auto& step : view.history) {
    step->for_each_length(
        [&](const SubjectLabels& labels, WaitFor wait_for, std::size_t slot, std::uint64_t count) {
          if (!cgroups.contains(labels.cgroup)) return;
          recent(labels.cgroup, kind_of(wait_for)).add(slot, count);
        });
    std::string_view cgroup;
    IntervalHistogram* waits = nullptr;
    step->for_each([&](const WaitStep::Subject& subject) { cgroup = subject.labels->cgroup; },
                   [&](const WaitStep::Wait& wait) {
                     const bool wanted = !is_blocked_kind(wait.kind) && cgroups.contains(cgroup);
                     waits = wanted ? &recent(cgroup, wait.kind) : nullptr;
                   },
                   [&](std::size_t slot, std::uint64_t count) {
                     if (waits) waits->add(slot, count);
                   });
  }
}

IntervalHistogram& UsualLengths::recent(std::string_view cgroup, std::size_t kind) {
  auto& histogram = recent_[{cgroup, kind}];
  if (!histogram) histogram = std::make_unique<IntervalHistogram>();
  return *histogram;
}

const SubjectSeries* UsualLengths::row_of(std::string_view cgroup) const {
  const auto path = [](const SubjectSeries& row) { return std::string_view(row.labels->cgroup); };
  const auto found = std::ranges::lower_bound(view_.subjects, cgroup, {}, path);
  return found != view_.subjects.end() && path(*found) == cgroup ? &*found : nullptr;
}

Json UsualLengths::of(std::string_view cgroup, WaitFor wait_for) const {
  const SubjectSeries* const row = row_of(cgroup);
  if (row == nullptr) return nullptr;
  const auto what = static_cast<std::size_t>(wait_for);
  const EstimatedHistogram* const all = row->waits[what].get();
  return json({cgroup, kind_of(wait_for)}, all ? &all->shown() : nullptr, row->waits_started[what]);
}

Json UsualLengths::of_run_queue(std::string_view cgroup, std::size_t kind) const {
  const SubjectSeries* const row = row_of(cgroup);
  if (row == nullptr) return nullptr;
  return json({cgroup, kind}, row->histograms[kind].get(), row->started[kind]);
}

Json UsualLengths::json(const Key& key, const LatencyHistogram* all, WallTime since) const {
  if (all == nullptr || until_ - since < kLeastTime) return nullptr;
  const auto found = recent_.find(key);
  IntervalHistogram usual;
  for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
    const std::uint64_t late = found != recent_.end() ? found->second->count_of(slot) : 0;
    usual.add(slot, all->slots[slot] - std::min(all->slots[slot], late));
  }
  if (usual.count() < kLeastWaits) return nullptr;
  return {{"since", rfc3339(since)},
          {"ended", usual.count()},
          {"p99_seconds", slot_bounds_json(usual.quantile_slot(0.99))}};
}

}  // namespace offcpud
