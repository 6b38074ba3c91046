// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "http/content_negotiation.h"
#include "http/http_message.h"
#include "metrics/exposition.h"

namespace offcpud {

// How large one scrape was, and how long it took.
struct ScrapeCost {
  std::uint64_t series = 0;   // a histogram counts as one
  std::uint64_t samples = 0;  // as Prometheus stores them
  std::uint64_t bytes = 0;
  // After compression; nullopt: nobody has scraped so far, the daemon measured at its start.
  std::optional<std::uint64_t> sent_bytes;
  std::chrono::nanoseconds duration{0};  // of producing it, without waiting for the client
};

using CostByFormat = std::array<std::optional<ScrapeCost>, 2>;  // by enum ExpositionFormat

// The last complete scrape in each format. Thread-safe.
class ScrapeCosts {
 public:
  void record(ExpositionFormat format, const ScrapeCost& cost);
  [[nodiscard]] CostByFormat last() const;

  // Makes a scrape of this view in each format and records what it costs; `sent_bytes` is nullopt.
  // Takes as long as these scrapes. `self_metrics` as for scrape_body().
  void measure(const std::shared_ptr<const View>& view, unsigned buckets,
               const std::function<void(SeriesWriter&)>& self_metrics);

 private:
  mutable std::mutex mutex_;
  CostByFormat last_;  // guarded by mutex_
};

// The options of the body of a scrape.
struct ExpositionOptions {
  ExpositionFormat format = ExpositionFormat::Text;
  unsigned classic_buckets = 28;  // see histogram/latency_histogram.h
  bool with_classic = false;      // Protobuf: native histograms have classic buckets as well
  // Whom or what units wait on; in protobuf also exemplars, which name processes and stacks.
  bool with_details = true;
};
std::unique_ptr<SeriesWriter> make_writer(const ExpositionOptions& options);

// The body of a scrape. Its cost is recorded when it has been read to its end. `costs` may be null,
// and must outlive the stream.
BodyStream scrape_body(const std::shared_ptr<const View>& view, const ExpositionOptions& options,
                       const std::function<void(SeriesWriter&)>& self_metrics, ContentCoding coding,
                       ScrapeCosts* costs);

}  // namespace offcpud
