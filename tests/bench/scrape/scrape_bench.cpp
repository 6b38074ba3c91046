// SPDX-License-Identifier: Apache-2.0
// What a scrape of the same data costs the server that is scraped: prometheus-cpp's exposer beside
// offcpud's own, plain and compressed. Usage: scrape_bench SERIES [--check]. With --check the
// status is 1 when text takes more than a fifth of the exposer's time, protobuf more than a
// twentieth, or memory grows with the body. Figures: docs/decisions/0003.
#include <prometheus/exposer.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "base/clock.h"
#include "http/http_server.h"
#include "scrape/bench_server.h"
#include "scrape/bench_view.h"

namespace offcpud {
namespace {

using Tell = std::function<void(std::uint16_t)>;

constexpr int kRounds = 3;  // of each, one after the other
constexpr int kSweeps = 3;  // over all, so that a while in which the host is busy meets all alike
constexpr const char* kText = "Accept: text/plain;version=0.0.4\r\n";
constexpr const char* kProtobuf = "Accept: application/vnd.google.protobuf;encoding=delimited\r\n";
constexpr const char* kGzip = "Accept-Encoding: gzip\r\n";
constexpr double kMostMemoryMb = 4;  // that a scrape may take, whatever its size

class ViewCollectable final : public prometheus::Collectable {
 public:
  explicit ViewCollectable(std::shared_ptr<const View> view) : view_(std::move(view)) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    return families_of(*view_);
  }

 private:
  std::shared_ptr<const View> view_;
};

void serve_exposer(const std::shared_ptr<const View>& view, const Tell& tell) {
  prometheus::Exposer exposer("127.0.0.1:0", 1);
  const auto collectable = std::make_shared<ViewCollectable>(view);
  exposer.RegisterCollectable(collectable);
  tell(static_cast<std::uint16_t>(exposer.GetListeningPorts().at(0)));
  for (;;) ::pause();
}

void serve_offcpud(const std::shared_ptr<const View>& view, const Tell& tell) {
  const SystemClock clock;
  RouteSources sources;
  sources.view = [&view](Freshness) { return view; };
  const Routes routes(std::move(sources), {.classic_buckets = kBenchBuckets}, clock);
  auto listener = open_listener("127.0.0.1:0");
  if (!listener) return;
  const std::string address = listener->address().text();
  const auto server = HttpServer::start(
      *std::move(listener), [&routes](const Request& request) { return routes.handle(request); });
  if (!server) return;
  tell(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  for (;;) ::pause();
}

// Times are those of the fastest scrape: what else the host does only makes others slower.
struct Figures {
  double cpu_ms = std::numeric_limits<double>::infinity(), wall_ms = cpu_ms;
  double body_mb = 0, memory_mb = 0;
};

void measure(Figures& figures, const BenchServer::Serve& serve, const char* path,
             const std::string& headers) {
  using std::chrono::duration;
  const BenchServer server(serve);
  server.reset_peak();
  const long before = server.peak_kib();
  for (int i = 0; i < kRounds; ++i) {
    const auto cpu_begin = server.cpu_time();
    const auto begin = std::chrono::steady_clock::now();
    figures.body_mb = static_cast<double>(server.fetch(path, headers.c_str())) / 1e6;
    const duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    const duration<double, std::milli> cpu = server.cpu_time() - cpu_begin;
    figures.wall_ms = std::min(figures.wall_ms, wall.count());
    figures.cpu_ms = std::min(figures.cpu_ms, cpu.count());
  }
  const double grown = static_cast<double>(server.peak_kib() - before) / 1024;
  figures.memory_mb = std::max(figures.memory_mb, grown);
}

void print(const std::string& name, const Figures& figures) {
  std::printf("%-39s cpu %8.1f ms  wall %8.1f ms  body %7.2f MB  memory +%6.1f MB\n", name.c_str(),
              figures.cpu_ms, figures.wall_ms, figures.body_mb, figures.memory_mb);
  std::fflush(stdout);
}

bool is_within(const std::string& what, const Figures& ours, const Figures& exposer, double share) {
  const bool fast = ours.cpu_ms <= exposer.cpu_ms * share;
  const bool small = ours.memory_mb <= kMostMemoryMb;
  if (!fast) {
    std::printf("%s: 1/%.1f of the exposer's time, expected 1/%.0f at most\n", what.c_str(),
                exposer.cpu_ms / ours.cpu_ms, 1 / share);
  }
  if (!small) std::printf("%s: memory grew by more than %.0f MB\n", what.c_str(), kMostMemoryMb);
  return fast && small;
}

bool run(std::size_t series) {
  const auto view = make_view(series);
  std::printf("%zu histogram series of %u buckets\n", series, kBenchBuckets);
  std::fflush(stdout);
  const auto exposer = [&view](const Tell& tell) { serve_exposer(view, tell); };
  const auto offcpud = [&view](const Tell& tell) { serve_offcpud(view, tell); };
  struct Variant {
    std::string name;
    BenchServer::Serve serve;
    const char* path;
    std::string headers;
    double share;  // of the exposer's time, that it may take; 0: any
    Figures figures = {};
  };
  bool good = true;
  for (const bool gzip : {false, true}) {
    const std::string coding = gzip ? kGzip : "";
    const std::string with = gzip ? ", gzip" : "";
    std::vector<Variant> variants = {
        {"prometheus-cpp" + with, exposer, "/metrics", coding, 0},
        {"text" + with, offcpud, "/metrics", kText + coding, 1.0 / 5},
        {"protobuf" + with, offcpud, "/metrics", kProtobuf + coding, 1.0 / 20},
        {"protobuf, classic buckets as well" + with, offcpud, "/metrics?histograms=both",
         kProtobuf + coding, 0}};
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (Variant& one : variants) measure(one.figures, one.serve, one.path, one.headers);
    }
    for (const Variant& one : variants) print(one.name, one.figures);
    for (const Variant& one : variants) {
      good = (one.share == 0 ||
              is_within(one.name, one.figures, variants.front().figures, one.share)) &&
             good;
    }
  }
  return good;
}

}  // namespace
}  // namespace offcpud

int main(int argc, char** argv) {
  std::size_t series = 0;
  const std::string_view count = argc > 1 ? argv[1] : "";
  const auto parsed = std::from_chars(count.data(), count.data() + count.size(), series);
  const bool check = argc == 3 && std::string_view(argv[2]) == "--check";
  if (parsed.ec != std::errc{} || series == 0 || (argc != 2 && !check)) {
    std::fprintf(stderr, "usage: %s SERIES [--check]\n", argv[0]);
    return 64;
  }
  return offcpud::run(series) || !check ? 0 : 1;
}
