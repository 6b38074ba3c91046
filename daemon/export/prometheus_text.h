// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/metric_catalog.h"
#include "export/row_families.h"
#include "export/series_writer.h"
#include "pipeline/view.h"

namespace offcpud {

// One scrape in the Prometheus text format 0.0.4, produced piece by piece: at most one series is in
// memory as text, whatever the size of the View. Used by one thread at a time.
class PrometheusText {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // `classic_buckets`: see histogram/latency_histogram.h. `self_metrics`: complete families in the
  // same format, none of them one of the View's; they come last.
  PrometheusText(std::shared_ptr<const View> view, unsigned classic_buckets,
                 std::string self_metrics);

  // Fills the buffer as far as the text goes and returns the bytes written; 0: the text is over.
  std::size_t read(std::span<char> buffer);

 private:
  enum class Part { Subjects, Processes, Totals, SelfMetrics, End };

  bool refill();
  void append_next();
  void next_part();
  template <typename Row, typename RowAt>
  void append_step(std::span<const RowFamily<Row>> families, std::size_t rows, const RowAt& row_at);
  void append_totals();
  void append_total(Metric metric, std::uint64_t value);

  std::shared_ptr<const View> view_;
  std::vector<const ProcessRow*> processes_;  // of view_: those that are exported, by pid
  std::vector<std::string> over_;             // the label of each of the View's stall bounds
  std::string self_metrics_;

  Part part_ = Part::Subjects;
  std::size_t family_ = 0;  // of this part
  std::size_t row_ = 0;
  std::size_t step_ = 0;

  SeriesWriter out_;
  std::size_t position_ = 0;  // the text of out_ is read up to here
};

}  // namespace offcpud
