// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "histogram/native_buckets.h"
#include "metrics/series_writer.h"

namespace offcpud {

// Prometheus' protobuf exposition: MetricFamily messages, each preceded by its length as a varint,
// with native histograms whose buckets are the kernel's slots. Source: metric_family_fields.h.
//
// Classic buckets come only on request: a server that stores native histograms ignores them unless
// it is told to store both (`scrape_classic_histograms`, later `always_scrape_classic_histograms`).
// Older servers, such as 2.42, look for exemplars only in classic buckets, even for native
// histograms, and want those of a series in order of time. So only one classic bucket of each
// series has an exemplar, the longest of the latest snapshot. The native part has all exemplars.
class PrometheusProtobuf final : public SeriesWriter {
 public:
  static constexpr std::string_view kContentType =
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
      "encoding=delimited";

  // `buckets`: classic bounds for histograms on the kernel's slots; empty: native histograms only.
  // Must outlive the writer.
  explicit PrometheusProtobuf(std::span<const ClassicBucket> buckets, bool with_exemplars = true);

  void begin_family(Metric metric) override;
  [[nodiscard]] bool end_family() override;
  void share_labels(std::span<const Label> labels) override;
  void number(std::initializer_list<Label> own, std::uint64_t value) override;
  void seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds) override;
  void real(std::initializer_list<Label> own, double value) override;
  void histogram(const Label& own, const HistogramSeries& series) override;
  void classic_histogram(const ClassicSeries& series) override;

 private:
  void append_native(const HistogramSeries& series);
  void append_deltas();
  void append_start(WallTime start);
  void append_buckets(const HistogramSeries& series);
  void begin_metric(std::initializer_list<Label> own);
  void end_metric(std::uint64_t samples);
  [[nodiscard]] std::span<const Exemplar> exemplars_of(const HistogramSeries& series) const;
  void append_header();

  std::vector<ClassicBucket> buckets_;
  std::vector<std::string> bounds_;  // the field UpperBound of each of buckets_
  bool with_exemplars_;
  const MetricDef* def_ = nullptr;
  bool measures_ = true;      // first round of the family: only measures
  std::size_t measured_ = 0;  // bytes of its series
  // Reused for their memory: the labels of a row, the message of a series, and parts of it.
  std::string shared_, metric_, histogram_;
  NativeBuckets native_;
};

}  // namespace offcpud
