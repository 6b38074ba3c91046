// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "histogram/latency_histogram.h"
#include "metrics/metric_catalog.h"
#include "pipeline/exemplar.h"

namespace offcpud {

struct Label {
  std::string_view name, value;
};

// One series of a histogram on the kernel's slots. Refers to data of a View.
struct HistogramSeries {
  const LatencyHistogram& histogram;
  WallTime started;                       // when its counts were 0; the epoch: unknown
  std::span<const Exemplar> exemplars{};  // by ascending duration
};

// A classic histogram with its own bounds.
struct ClassicSeries {
  struct Bucket {
    double upper_bound;
    std::uint64_t cumulative_count;
  };
  std::span<const Bucket> buckets;  // the last one is +Inf
  double sum = 0;
};

// Appends families to bytes, in one format of exposition. A family without series yields nothing.
// Labels that the series of a row share are passed only once. Used by one thread at a time.
class SeriesWriter {
 public:
  SeriesWriter() : series_(metric_catalog().size()) {}
  virtual ~SeriesWriter() = default;
  SeriesWriter(const SeriesWriter&) = delete;
  SeriesWriter& operator=(const SeriesWriter&) = delete;

  // Series from here on belong to this family; shared labels are cleared.
  virtual void begin_family(Metric metric) = 0;

  // True: write the same series once more. A format that puts a length before the family only
  // measures the first time, and so need not keep the series in memory.
  [[nodiscard]] virtual bool end_family() = 0;

  // Labels of all series from here on. Labels without a value are left out.
  virtual void share_labels(std::span<const Label> labels) = 0;

  // Write one series each; the `own` labels come after the shared ones.
  virtual void number(std::initializer_list<Label> own, std::uint64_t value) = 0;
  virtual void seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds) = 0;
  virtual void real(std::initializer_list<Label> own, double value) = 0;
  virtual void histogram(const Label& own, const HistogramSeries& series) = 0;
  virtual void classic_histogram(const ClassicSeries& series) = 0;

  // The bytes that were written since the caller last cleared them.
  [[nodiscard]] std::string& bytes() { return bytes_; }

  // Totals of what was written. A histogram is one series, and as many samples as Prometheus
  // stores.
  [[nodiscard]] std::uint64_t series_of(Metric metric) const {
    return series_[static_cast<std::size_t>(metric)];
  }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

 protected:
  void count(Metric metric, std::uint64_t samples) {
    ++series_[static_cast<std::size_t>(metric)];
    samples_ += samples;
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> series_;
  std::uint64_t samples_ = 0;
};

}  // namespace offcpud
