// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/hist_kind.h"
#include "metrics/metric_catalog.h"
#include "metrics/series_writer.h"
#include "pipeline/view.h"

namespace offcpud {

// A family whose series come from the rows of a View. It is written step by step, so that only one
// histogram at a time is in memory as bytes.
template <typename Row>
struct RowFamily {
  Metric metric;
  std::size_t steps;  // of each row
  void (*append)(SeriesWriter& out, const Row& row, std::size_t step);
};

inline WallTime start_of(const SubjectSeries& series, std::size_t kind) {
  return series.started[kind];
}
inline WallTime start_of(const ProcessRow& row, std::size_t /*kind*/) {
  return row.started;
}

struct SubjectRow {
  const SubjectSeries& series;
  std::span<const std::string> over;  // one label value for each of View::stall_bounds
  bool tells_wakers = true;
};

inline constexpr std::size_t kRunqueueKinds = OFFCPUD_HIST_KINDS - OFFCPUD_BLOCKED_KINDS;

// Appends the histogram of a kind, with `label`; nothing if there is none.
template <typename Row>
void append_kind(SeriesWriter& out, const Row& row, std::string_view label, std::size_t kind) {
  const auto& histogram = row.histograms[kind];
  if (!histogram) return;
  HistogramSeries series{*histogram, start_of(row, kind)};
  if (row.exemplars && is_blocked_kind(kind)) series.exemplars = (*row.exemplars)[kind];
  out.histogram({label, kHistKindNames[kind]}, series);
}

// In the order of the catalogue.
std::span<const RowFamily<SubjectRow>> subject_families();
std::span<const RowFamily<ProcessRow>> process_families();

// Passes the labels that all series of a row share to the writer.
void share_labels(SeriesWriter& out, const SubjectRow& row);
void share_labels(SeriesWriter& out, const ProcessRow& row);
void share_labels(SeriesWriter& out, const SubjectLabels& labels);

}  // namespace offcpud
