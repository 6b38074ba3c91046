// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/metric_catalog.h"
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
  enum class Part { Blocked, RunqueueWait, Running, Totals, SelfMetrics, End };

  bool refill();
  void append_next();
  void next_part();
  void append_histogram_series(Metric metric, std::string_view label, std::size_t first_kind,
                               std::size_t end_kind);
  void append_histogram(const LatencyHistogram& histogram, std::string_view name,
                        std::string_view label, std::string_view value);
  void append_running();
  void append_totals();
  void append_total(Metric metric, std::uint64_t value);
  void append_header(const MetricDef& def);
  void enter_subject();

  std::shared_ptr<const View> view_;
  std::span<const ClassicBucket> buckets_;
  std::vector<std::string> bucket_suffixes_;  // `,le="0.25"} `; the last one is +Inf
  std::string self_metrics_;

  Part part_ = Part::Blocked;
  std::size_t subject_ = 0;
  std::size_t kind_ = 0;
  bool header_written_ = false;
  std::string subject_labels_;  // text of the subject's labels, made once per subject and family
  std::string bucket_prefix_;   // kept for its capacity

  std::string pending_;  // text that is produced but not yet read, from position_ on
  std::size_t position_ = 0;
};

}  // namespace offcpud
