// SPDX-License-Identifier: Apache-2.0
#include "api/scrape_costs.h"

#include <utility>
#include <vector>

#include "http/gzip_stream.h"
#include "metrics/prometheus_protobuf.h"
#include "metrics/prometheus_text.h"

namespace offcpud {
namespace {

// Counts the bytes that are read from a body, and the time that producing them takes.
class MeteredBody {
 public:
  explicit MeteredBody(BodyStream body) : body_(std::move(body)) {}

  std::size_t read(std::span<char> buffer) {
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t n = body_(buffer);
    duration_ += std::chrono::steady_clock::now() - begin;
    bytes_ += n;
    return n;
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::chrono::nanoseconds duration() const { return duration_; }

 private:
  BodyStream body_;
  std::uint64_t bytes_ = 0;
  std::chrono::nanoseconds duration_{0};
};

BodyStream stream_of_metered(std::shared_ptr<MeteredBody> body) {
  return [body = std::move(body)](std::span<char> buffer) { return body->read(buffer); };
}

ScrapeCost cost_of(const SeriesWriter& writer, const MeteredBody& plain, const MeteredBody& sent) {
  ScrapeCost cost;
  for (const MetricDef& metric : metric_catalog()) cost.series += writer.series_of(metric.id);
  cost.samples = writer.samples();
  cost.bytes = plain.bytes();
  cost.sent_bytes = sent.bytes();
  cost.duration = sent.duration();
  return cost;
}

}  // namespace

void ScrapeCosts::record(ExpositionFormat format, const ScrapeCost& cost) {
  const std::lock_guard lock(mutex_);
  last_[static_cast<std::size_t>(format)] = cost;
}

CostByFormat ScrapeCosts::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void ScrapeCosts::measure(const std::shared_ptr<const View>& view, unsigned buckets,
                          const std::function<void(SeriesWriter&)>& self_metrics) {
  std::vector<char> block(std::size_t{64} * 1024);
  for (const auto format : {ExpositionFormat::Text, ExpositionFormat::Protobuf}) {
    ScrapeCosts costs;
    const BodyStream body = scrape_body(view, {.format = format, .classic_buckets = buckets},
                                        self_metrics, ContentCoding::Identity, &costs);
    while (body(block) != 0) continue;
    ScrapeCost cost = costs.last()[static_cast<std::size_t>(format)].value_or(ScrapeCost{});
    cost.sent_bytes.reset();
    record(format, cost);
  }
}

std::unique_ptr<SeriesWriter> make_writer(const ExpositionOptions& options) {
  const auto buckets = classic_buckets(options.classic_buckets);
  if (options.format == ExpositionFormat::Text) return std::make_unique<PrometheusText>(buckets);
  return std::make_unique<PrometheusProtobuf>(options.with_classic ? buckets : buckets.first(0),
                                              options.with_details);
}

BodyStream scrape_body(const std::shared_ptr<const View>& view, const ExpositionOptions& options,
                       const std::function<void(SeriesWriter&)>& self_metrics, ContentCoding coding,
                       ScrapeCosts* costs) {
  auto exposition =
      std::make_shared<Exposition>(view, make_writer(options), self_metrics, options.with_details);
  auto plain = std::make_shared<MeteredBody>(
      [exposition](std::span<char> buffer) { return exposition->read(buffer); });
  auto sent = std::make_shared<MeteredBody>(coding == ContentCoding::Gzip
                                                ? gzip_stream(stream_of_metered(plain))
                                                : stream_of_metered(plain));
  return [=, format = options.format](std::span<char> buffer) {
    const std::size_t n = sent->read(buffer);
    if (n == 0 && !buffer.empty() && costs != nullptr) {
      costs->record(format, cost_of(exposition->writer(), *plain, *sent));
    }
    return n;
  };
}

}  // namespace offcpud
