// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/metric_catalog.h"
#include "histogram/latency_histogram.h"

namespace offcpud {

struct Label {
  std::string_view name, value;
};

// Appends families to a text in the Prometheus format 0.0.4: HELP and TYPE before the first series
// of a family, nothing for a family without series. The labels that the series of a row share are
// kept as text, so they are escaped once. Used by one thread at a time.
class SeriesWriter {
 public:
  // `buckets` must outlive the writer.
  explicit SeriesWriter(std::span<const ClassicBucket> buckets);

  // What follows belongs to this family, and has no shared labels.
  void begin_family(Metric metric);

  // Labels of all series from here on, as append_label() makes them, without braces.
  void share_labels(std::string labels) { shared_ = std::move(labels); }

  // One series each; `own` labels come after those that are shared.
  void number(std::initializer_list<Label> own, std::uint64_t value);
  void seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds);
  void ratio(std::initializer_list<Label> own, double value);
  void histogram(const Label& own, const LatencyHistogram& histogram);

  // What was written since it was last cleared.
  [[nodiscard]] std::string& text() { return text_; }

 private:
  void append_header();
  void begin_sample(std::initializer_list<Label> own);

  std::span<const ClassicBucket> buckets_;
  std::vector<std::string> bucket_suffixes_;  // `,le="0.25"} `; the last one is +Inf
  const MetricDef* def_ = nullptr;
  bool header_written_ = false;
  std::string shared_;
  std::string bucket_prefix_;  // kept for its capacity
  std::string text_;
};

}  // namespace offcpud
