// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/series_writer.h"

namespace offcpud {

// The Prometheus text format 0.0.4, which has neither exemplars nor start times:
// https://prometheus.io/docs/instrumenting/exposition_formats/. HELP and TYPE come before the first
// series of a family. The labels that all series of a row share are kept as text, so that they are
// escaped only once.
class PrometheusText final : public SeriesWriter {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // `buckets` must outlive the writer.
  explicit PrometheusText(std::span<const ClassicBucket> buckets);

  void begin_family(Metric metric) override;
  [[nodiscard]] bool end_family() override { return false; }
  void share_labels(std::span<const Label> labels) override;
  void number(std::initializer_list<Label> own, std::uint64_t value) override;
  void seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds) override;
  void real(std::initializer_list<Label> own, double value) override;
  void histogram(const Label& own, const HistogramSeries& series) override;
  void classic_histogram(const ClassicSeries& series) override;

 private:
  void append_header();
  void begin_sample(std::initializer_list<Label> own);
  void end_sample();

  std::span<const ClassicBucket> buckets_;
  std::vector<std::string> bucket_suffixes_;  // `,le="0.25"} `; +Inf is the last
  const MetricDef* def_ = nullptr;
  bool header_written_ = false;
  std::string shared_;
  std::string bucket_prefix_;  // reused for its memory
};

}  // namespace offcpud
