// SPDX-License-Identifier: Apache-2.0
// The routes of the daemon over snapshots in memory, for page_test.py: prints its address and
// serves until its standard input ends. Needs no kernel and no root.
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "api/routes.h"
#include "http/http_server.h"
#include "support/fake_clock.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

// Four random snapshots, a minute each, and one with names that break what takes them for text.
class MemoryLibrary final : public SnapshotLibrary {
 public:
  explicit MemoryLibrary(WallTime now) {
    constexpr std::uint32_t kRandom = 4;
    for (std::uint32_t i = 1; i <= kRandom + 1; ++i) {
      Snapshot s = i <= kRandom ? test::random_snapshot(i, 400) : test::hostile_snapshot();
      s.sequence = i;
      s.begin = now - std::chrono::minutes(kRandom + 2 - i);
      s.end = s.begin + std::chrono::minutes(1);
      snapshots_.emplace(i, std::move(s));
    }
  }

  [[nodiscard]] std::vector<StoredSnapshot> list() const override {
    std::vector<StoredSnapshot> all;
    for (const auto& [sequence, snapshot] : snapshots_) {
      all.push_back({.name = SnapshotName::of(snapshot), .bytes = 1'000});
    }
    return all;
  }
  [[nodiscard]] Result<std::optional<Snapshot>> load(std::uint64_t sequence) const override {
    return std::optional<Snapshot>(snapshots_.at(sequence));
  }
  [[nodiscard]] std::size_t foreign_files() const override { return 0; }

 private:
  std::map<std::uint64_t, Snapshot> snapshots_;
};

class NoSource final : public SnapshotSource {
 public:
  void take_next(std::chrono::milliseconds, const BlockFilter&,
                 std::function<void(Result<Snapshot>)> done) override {
    done(Error("nothing is sampled here"));
  }
};

int serve() {
  const FakeClock clock;
  const MemoryLibrary library(clock.wall());
  NoSource source;
  RequestWorker worker;
  const SnapshotHandlers handlers(library, source, worker, clock, {});
  const Routes routes({.view = [](Freshness) { return nullptr; },
                       .status = [] { return StatusReport{}; },
                       .self_metrics = {},
                       .snapshots = &handlers},
                      {}, clock);
  auto listener = open_listener("127.0.0.1:0");
  if (!listener) return 1;
  const std::string address = listener->address().text();
  const auto server = HttpServer::start(
      *std::move(listener), [&routes](const Request& request) { return routes.handle(request); });
  if (!server) return 1;
  (void)std::printf("%s\n", address.c_str());
  (void)std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace
}  // namespace offcpud

int main() {
  return offcpud::serve();
}
