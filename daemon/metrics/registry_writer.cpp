// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry_writer.h"

#include <algorithm>
#include <stdexcept>

namespace offcpud {
namespace {

using Series = prometheus::ClientMetric;

const MetricDef& def_of(const std::string& name) {
  const auto catalog = metric_catalog();
  const auto found = std::ranges::find(catalog, name, &MetricDef::name);
  if (found == catalog.end()) throw std::logic_error(name + " is not in the catalogue of metrics");
  return *found;
}

void write_histogram(SeriesWriter& out, const prometheus::ClientMetric::Histogram& histogram) {
  std::vector<ClassicSeries::Bucket> buckets;
  buckets.reserve(histogram.bucket.size());
  for (const auto& bucket : histogram.bucket) {
    buckets.push_back({bucket.upper_bound, bucket.cumulative_count});
  }
  out.classic_histogram({buckets, histogram.sample_sum});
}

void write_series(SeriesWriter& out, MetricType type, const Series& series) {
  std::vector<Label> labels;
  for (const auto& label : series.label) labels.push_back({label.name, label.value});
  out.share_labels(labels);
  switch (type) {
    case MetricType::Counter:
      return out.real({}, series.counter.value);
    case MetricType::Gauge:
      return out.real({}, series.gauge.value);
    case MetricType::Histogram:
      return write_histogram(out, series.histogram);
  }
}

}  // namespace

void write_families(SeriesWriter& out, std::vector<prometheus::MetricFamily> families) {
  for (prometheus::MetricFamily& family : families) {
    std::ranges::sort(family.metric, {}, &Series::label);
    const MetricDef& def = def_of(family.name);
    out.begin_family(def.id);
    do {
      for (const Series& series : family.metric) write_series(out, def.type, series);
    } while (out.end_family());
  }
}

}  // namespace offcpud
