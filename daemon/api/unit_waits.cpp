// SPDX-License-Identifier: Apache-2.0
#include "api/unit_waits.h"

#include <algorithm>

#include "base/hist_kind.h"

namespace offcpud {
namespace {

void add(KindWaits& into, const KindWaits& more) {
  into.waited_ns += more.waited_ns;
  into.threads += more.threads;
  into.oldest.merge(more.oldest);
  if (!more.ended) return;
  if (!into.ended) into.ended = std::make_unique<IntervalHistogram>();
  for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
    into.ended->add(slot, more.ended->count_of(slot));
  }
}

}  // namespace

bool UnitWaits::counts(std::size_t kind) const {
  return is_actionable(kind) && !(has_kernel_workers && kind == OFFCPUD_BLOCKED_KERNEL);
}

std::uint64_t UnitWaits::actionable_ns() const {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (counts(kind)) sum += kinds[kind].waited_ns;
  }
  return sum;
}

std::uint64_t UnitWaits::idle_ns() const {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (!counts(kind)) sum += kinds[kind].waited_ns;
  }
  return sum;
}

std::uint64_t UnitWaits::runqueue_ns() const {
  std::uint64_t sum = 0;
  for (std::size_t kind = OFFCPUD_BLOCKED_KINDS; kind < kinds.size(); ++kind) {
    sum += kinds[kind].waited_ns;
  }
  return sum;
}

void UnitWaits::add(const UnitWaits& other) {
  running_ns += other.running_ns;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kind == OFFCPUD_BLOCKED_KERNEL && other.has_kernel_workers) continue;
    offcpud::add(kinds[kind], other.kinds[kind]);
  }
}

UnitSums::UnitSums(const View& view) : view_(view) {
  for (const SubjectSeries& row : view.subjects) {
    if (row.in_progress && row.in_progress->open[OFFCPUD_BLOCKED_KERNEL].for_work > 0) {
      with_kernel_workers_.insert(row.labels->cgroup);
    }
  }
}

UnitWaits UnitSums::total() const {
  UnitWaits sum;
  for (const auto& [cgroup, unit] : units_) sum.add(unit);
  return sum;
}

UnitWaits& UnitSums::unit_of(const std::shared_ptr<const SubjectLabels>& labels) {
  const auto [found, is_new] = units_.try_emplace(labels->cgroup);
  if (is_new) {
    found->second.labels = labels;
    found->second.has_kernel_workers = with_kernel_workers_.contains(labels->cgroup);
  }
  return found->second;
}

void UnitSums::add_in_progress(const SubjectSeries& row) {
  UnitWaits& unit = unit_of(row.labels);
  for (std::size_t kind = 0; kind < unit.kinds.size(); ++kind) {
    const OpenWaits& open = row.in_progress->open[kind];
    unit.kinds[kind].threads += open.threads - open.for_work;
    if (is_blocked_kind(kind)) {
      unit.kinds[kind].oldest.merge(row.in_progress->blocked[kind].oldest);
    }
  }
}

}  // namespace offcpud
