// SPDX-License-Identifier: Apache-2.0
// Time and memory of one scrape of the same View, through PrometheusText and through the model and
// serializer of prometheus-cpp. Usage: export_bench SERIES. Figures: docs/decisions/0003.
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "export/metric_catalog.h"
#include "export/prometheus_text.h"
#include "histogram/hist_kind.h"

namespace offcpud {
namespace {

constexpr unsigned kBuckets = 28;
constexpr int kRounds = 5;

// Every subject has an episode of every kind, with labels as long as a systemd service has them.
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
    for (std::size_t kind = 0; kind < std::min(OFFCPUD_HIST_KINDS + 0UL, series_wanted - made);
         ++kind) {
      auto histogram = std::make_shared<LatencyHistogram>();
      for (int i = 0; i < 100; ++i) {
        const auto ns = static_cast<std::uint64_t>(duration_ns(random));
        histogram->sum_ns += ns;
        ++histogram->slots[offcpud_slot(ns)];
      }
      series.histograms[kind] = std::move(histogram);
    }
    view->subjects.push_back(std::move(series));
  }
  return view;
}

std::size_t stream(const std::shared_ptr<const View>& view) {
  PrometheusText text(view, kBuckets, "");
  std::vector<char> buffer(65536);
  std::size_t total = 0;
  while (const std::size_t n = text.read(buffer)) total += n;
  return total;
}

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
  for (const ClassicBucket& bucket : classic_buckets(kBuckets)) {
    for (; slot <= bucket.last_slot; ++slot) total += histogram.slots[slot];
    metric.histogram.bucket.push_back({total, slot_bound_seconds(bucket.last_slot)});
  }
  metric.histogram.sample_count = histogram.count();
  metric.histogram.sample_sum = static_cast<double>(histogram.sum_ns) / 1e9;
  return metric;
}

std::size_t through_prometheus_cpp(const std::shared_ptr<const View>& view) {
  std::vector<prometheus::MetricFamily> families(2);
  const Metric metrics[] = {Metric::BlockedSeconds, Metric::RunqueueWaitSeconds};
  for (std::size_t i = 0; i < families.size(); ++i) {
    families[i].name = metric_def(metrics[i]).name;
    families[i].help = metric_def(metrics[i]).help;
    families[i].type = prometheus::MetricType::Histogram;
  }
  for (const SubjectSeries& series : view->subjects) {
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
      if (!series.histograms[kind]) continue;
      families[is_blocked_kind(kind) ? 0 : 1].metric.push_back(client_metric(series, kind));
    }
  }
  return prometheus::TextSerializer().Serialize(families).size();
}

long peak_rss_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);  // NOLINT(cert-err34-c)
  }
  return 0;
}

// In a process of its own, so that the peak is that of this way alone.
void measure(const char* name, const std::shared_ptr<const View>& view,
             const std::function<std::size_t(const std::shared_ptr<const View>&)>& render) {
  const pid_t child = ::fork();
  if (child != 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts from what is resident now
  const long before = peak_rss_kib();
  std::vector<double> milliseconds;
  std::size_t bytes = 0;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    bytes = render(view);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(took.count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%-16s median %8.1f ms  min %8.1f ms  body %6.1f MB  peak RSS +%.1f MB\n", name,
              milliseconds[kRounds / 2], milliseconds.front(), static_cast<double>(bytes) / 1e6,
              static_cast<double>(peak_rss_kib() - before) / 1024);
  std::fflush(stdout);
  ::_exit(0);
}

}  // namespace
}  // namespace offcpud

int main(int argc, char** argv) {
  std::size_t series = 0;
  const std::string_view count = argc == 2 ? argv[1] : "";
  const auto parsed = std::from_chars(count.data(), count.data() + count.size(), series);
  if (parsed.ec != std::errc{} || series == 0) {
    std::fprintf(stderr, "usage: %s SERIES\n", argv[0]);
    return 64;
  }
  const auto view = offcpud::make_view(series);
  std::printf("%zu histogram series x %u buckets\n", series, offcpud::kBuckets);
  std::fflush(stdout);
  offcpud::measure("PrometheusText", view, offcpud::stream);
  offcpud::measure("prometheus-cpp", view, offcpud::through_prometheus_cpp);
  return 0;
}
