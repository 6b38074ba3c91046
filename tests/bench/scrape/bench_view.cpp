// SPDX-License-Identifier: Apache-2.0
#include "scrape/bench_view.h"

#include <algorithm>
#include <random>
#include <string>

#include "base/hist_kind.h"
#include "metrics/metric_catalog.h"

namespace offcpud {
namespace {

prometheus::ClientMetric client_metric(const SubjectSeries& series, std::size_t kind) {
  const LatencyHistogram& histogram = *series.histograms[kind];
  const char* label = is_blocked_kind(kind) ? "reason" : "cause";
  prometheus::ClientMetric metric;
  metric.label = {{"cgroup", series.labels->cgroup},
                  {"slice", series.labels->slice},
                  {"unit", series.labels->unit},
                  {label, std::string(kHistKindNames[kind])}};
  std::uint64_t total = 0;
  std::size_t slot = 0;
  for (const ClassicBucket& bucket : classic_buckets(kBenchBuckets)) {
    for (; slot <= bucket.last_slot; ++slot) total += histogram.slots[slot];
    metric.histogram.bucket.push_back({total, slot_bound_seconds(bucket.last_slot)});
  }
  metric.histogram.sample_count = histogram.count();
  metric.histogram.sample_sum = static_cast<double>(histogram.sum_ns) / 1e9;
  return metric;
}

}  // namespace

std::shared_ptr<const View> make_view(std::size_t series_wanted) {
  std::mt19937_64 random(19435);  // NOLINT(cert-msc51-cpp): the same View in every run
  std::lognormal_distribution<double> duration_ns(14, 3);
  auto view = std::make_shared<View>();
  for (std::size_t made = 0; made < series_wanted; made += OFFCPUD_HIST_KINDS) {
    SubjectLabels labels;
    labels.unit = "service-number-" + std::to_string(made) + ".service";
    labels.slice = "system.slice";
    labels.cgroup = "/system.slice/" + labels.unit;
    SubjectSeries series;
    series.labels = std::make_shared<const SubjectLabels>(std::move(labels));
    const std::size_t kinds = std::min<std::size_t>(OFFCPUD_HIST_KINDS, series_wanted - made);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      auto histogram = std::make_shared<LatencyHistogram>();
      for (int i = 0; i < 100; ++i) {
        const auto ns = static_cast<std::uint64_t>(duration_ns(random));
        histogram->sum_ns += ns;
        ++histogram->slots[offcpud_slot(ns)];
      }
      series.histograms[kind] = std::move(histogram);
      series.started[kind] = WallTime(std::chrono::seconds(1'700'000'000));
    }
    view->subjects.push_back(std::move(series));
  }
  view->taken_wall = WallTime(std::chrono::seconds(1'700'000'100));
  return view;
}

std::vector<prometheus::MetricFamily> families_of(const View& view) {
  std::vector<prometheus::MetricFamily> families(2);
  const Metric metrics[] = {Metric::BlockedSeconds, Metric::RunqueueWaitSeconds};
  for (std::size_t i = 0; i < families.size(); ++i) {
    families[i].name = metric_def(metrics[i]).name;
    families[i].help = metric_def(metrics[i]).help;
    families[i].type = prometheus::MetricType::Histogram;
  }
  for (const SubjectSeries& series : view.subjects) {
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
      if (!series.histograms[kind]) continue;
      families[is_blocked_kind(kind) ? 0 : 1].metric.push_back(client_metric(series, kind));
    }
  }
  return families;
}

}  // namespace offcpud
