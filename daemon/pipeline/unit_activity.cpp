// SPDX-License-Identifier: Apache-2.0
#include "pipeline/unit_activity.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace offcpud {
namespace {

std::uint64_t busy_ns(const SubjectSeries& series) {
  std::uint64_t sum = series.running_ns;
  for (std::size_t kind = OFFCPUD_BLOCKED_KINDS; kind < OFFCPUD_HIST_KINDS; ++kind) {
    if (series.histograms[kind]) sum += series.histograms[kind]->sum_ns;
  }
  return sum;
}

}  // namespace

void FadingRate::add(double amount, std::chrono::duration<double> within) {
  if (within.count() <= 0) return;
  const double kept = std::exp2(-within / half_life_);
  sum_ = kept * sum_ + (1 - kept) * amount / within.count();
  weight_ = kept * weight_ + (1 - kept);
}

void UnitActivity::update(std::span<const SubjectSeries> subjects, MonotonicTime now) {
  const std::chrono::duration<double> within = now - std::exchange(updated_, now);
  std::vector<Row> before = std::exchange(rows_, {});
  rows_.reserve(subjects.size());
  auto row = before.begin();
  for (const SubjectSeries& series : subjects) {
    const std::uint64_t busy = busy_ns(series);
    while (row != before.end() && row->labels->cgroup < series.labels->cgroup) ++row;
    if (row == before.end() || row->labels->cgroup != series.labels->cgroup) {
      rows_.push_back({.labels = series.labels, .busy_ns = busy, .since = now});
      continue;
    }
    Row& kept = rows_.emplace_back(std::move(*row++));
    const std::uint64_t ran_ns = busy - std::min(busy, std::exchange(kept.busy_ns, busy));
    const double seconds = static_cast<double>(ran_ns) / 1e9;
    kept.now.add(seconds, within);
    kept.usual.add(seconds, within);
  }
}

std::optional<UnitActivity::Busy> UnitActivity::of(std::string_view cgroup) const {
  const auto cgroup_of = [](const Row& row) -> std::string_view { return row.labels->cgroup; };
  const auto row = std::ranges::lower_bound(rows_, cgroup, {}, cgroup_of);
  if (row == rows_.end() || row->labels->cgroup != cgroup) return std::nullopt;
  if (updated_ - row->since < kYoung) return std::nullopt;
  return Busy{.now = row->now.per_second(), .usual = row->usual.per_second()};
}

}  // namespace offcpud
