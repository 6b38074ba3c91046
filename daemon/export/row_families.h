// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "export/metric_catalog.h"
#include "export/series_writer.h"
#include "histogram/hist_kind.h"
#include "pipeline/view.h"

namespace offcpud {

// A family whose series come from the rows of a View. Text is made step by step, so that it never
// holds more than one histogram.
template <typename Row>
struct RowFamily {
  Metric metric;
  std::size_t steps;  // for each row
  void (*append)(SeriesWriter& out, const Row& row, std::size_t step);
};

struct SubjectRow {
  const SubjectSeries& series;
  std::span<const std::string> over;  // the label of each of View::stall_bounds
  bool tells_wakers = true;
};

inline constexpr std::size_t kRunqueueKinds = OFFCPUD_HIST_KINDS - OFFCPUD_BLOCKED_KINDS;

// The histogram of a kind, by `label`; nothing while there is no episode.
template <typename Histograms>
void append_kind(SeriesWriter& out, const Histograms& histograms, std::string_view label,
                 std::size_t kind) {
  const auto& histogram = histograms[kind];
  if (histogram && !histogram->empty()) out.histogram({label, kHistKindNames[kind]}, *histogram);
}

// In the order of the catalogue.
std::span<const RowFamily<SubjectRow>> subject_families();
std::span<const RowFamily<ProcessRow>> process_families();

// The labels that all series of a row share, as text without braces.
std::string shared_labels(const SubjectRow& row);
std::string shared_labels(const ProcessRow& row);

}  // namespace offcpud
