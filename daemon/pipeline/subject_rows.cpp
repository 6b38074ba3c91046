// SPDX-License-Identifier: Apache-2.0
#include "pipeline/subject_rows.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace offcpud {
namespace {

bool by_cgroup(const SubjectSeries& a, const SubjectSeries& b) {
  return a.labels->cgroup < b.labels->cgroup;
}

SubjectSeries row_without_series(std::string_view path, const WaitsInProgress& waits) {
  SubjectSeries row;
  row.labels = labels_of_series(path);
  row.in_progress = std::make_shared<const WaitsInProgress>(waits);
  return row;
}

// Keeps `rows` sorted.
void add_to_other(std::vector<SubjectSeries>& rows, WaitsInProgress waits) {
  const auto other = std::find_if(rows.begin(), rows.end(), [](const SubjectSeries& row) {
    return row.labels->cgroup >= kOtherCgroup;
  });
  if (other == rows.end() || other->labels->cgroup != kOtherCgroup) {
    rows.insert(other, row_without_series(kOtherCgroup, waits));
    return;
  }
  if (other->in_progress) add_waits(waits, *other->in_progress);
  other->in_progress = std::make_shared<const WaitsInProgress>(waits);
}

}  // namespace

std::vector<SubjectSeries> subject_rows(const SeriesStore& store,
                                        const InProgressByPath* in_progress, std::size_t max_rows) {
  static const auto kNoWaits = std::make_shared<const WaitsInProgress>();
  std::vector<SubjectSeries> rows;
  rows.reserve(store.series().size());
  for (const auto& [path, series] : store.series()) {
    SubjectSeries& row = rows.emplace_back(series);
    if (!in_progress) continue;
    const auto found = in_progress->find(path);
    row.in_progress = found == in_progress->end()
                          ? kNoWaits
                          : std::make_shared<const WaitsInProgress>(found->second.waits);
  }
  if (!in_progress) return rows;

  std::optional<WaitsInProgress> beyond;
  for (const auto& [path, cgroup] : *in_progress) {
    if (store.contains(path)) continue;
    if (path != kOtherCgroup && rows.size() < max_rows) {
      rows.push_back(row_without_series(path, cgroup.waits));
    } else {
      if (!beyond) beyond.emplace();
      add_waits(*beyond, cgroup.waits);
    }
  }
  std::sort(rows.begin(), rows.end(), by_cgroup);
  if (beyond) add_to_other(rows, *beyond);
  return rows;
}

}  // namespace offcpud
