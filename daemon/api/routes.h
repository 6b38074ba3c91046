// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/address_names.h"
#include "api/changes_handler.h"
#include "api/goroutines_handler.h"
#include "api/known_units.h"
#include "api/scrape_costs.h"
#include "api/snapshot_handlers.h"
#include "api/status_report.h"
#include "base/clock.h"
#include "base/thread_watch.h"
#include "http/gzip_slots.h"
#include "http/http_message.h"
#include "pipeline/view.h"

namespace offcpud {

enum class Freshness {
  Last,   // what the last pass found, at once
  Fresh,  // after a new pass when the last one is older than min_pass_interval
};

// At most this many bodies are compressed at a time; together they take 3 MiB.
inline constexpr unsigned kGzipAtOnce = 8;

// What the routes show. Each function is called by several threads at once. `view` returns null
// before the first pass; when a new pass takes too long it returns the last View.
struct RouteSources {
  std::function<std::shared_ptr<const View>(Freshness)> view;
  std::function<StatusReport()> status;
  std::function<void(SeriesWriter&)> self_metrics;  // SelfMetrics::write
  IsLiveCgroup is_live_cgroup;                      // see check_cgroup()
  const AddressNames* address_names = nullptr;      // names of futexes; null: none; outlives this
  ScrapeCosts* scrape_costs = nullptr;              // null: not recorded; outlives the server
  const ThreadWatch* threads = nullptr;             // null: nobody watches them; outlives this
  const SnapshotHandlers* snapshots = nullptr;      // null: they are off; outlives this
  const ChangesHandler* changes = nullptr;          // as snapshots
  const GoroutinesHandler* goroutines = nullptr;    // as snapshots
  std::function<CpuSteps()> cpu_history;            // set if `changes` is
  GzipSlots gzip{kGzipAtOnce};                      // shared by all Routes of a server
};

struct RouteOptions {
  unsigned classic_buckets = 28;
  std::chrono::milliseconds stale_after{30'000};  // /-/ready fails when the last pass is older
};

// Answers requests by their path. Immutable: any number of threads may call handle().
class Routes {
 public:
  // `clock` must outlive the object.
  Routes(RouteSources sources, RouteOptions options, const Clock& clock);

  [[nodiscard]] Response handle(const Request& request) const;

  // True for the paths that show stacks, processes or threads: see AccessRules.
  [[nodiscard]] static bool is_detail(std::string_view path);

 private:
  enum class Shows { Numbers, Details };
  struct Route;

  // Status 404 if the host does not have the cgroup that is asked for.
  [[nodiscard]] std::optional<Response> no_such_cgroup(const View& view,
                                                       const Request& request) const;

  [[nodiscard]] Response page(const Request& request) const;
  [[nodiscard]] StatusReport status_for(const Request& request) const;
  [[nodiscard]] Response directory(const Request& request) const;
  [[nodiscard]] Response metrics(const Request& request) const;
  [[nodiscard]] Response healthy(const Request& request) const;
  [[nodiscard]] Response ready(const Request& request) const;
  [[nodiscard]] Response status(const Request& request) const;
  [[nodiscard]] Response stalls(const Request& request) const;
  [[nodiscard]] Response top(const Request& request) const;
  [[nodiscard]] Response units(const Request& request) const;
  [[nodiscard]] Response changes(const Request& request) const;
  [[nodiscard]] Response why(const Request& request) const;
  [[nodiscard]] Response goroutines(const Request& request) const;
  [[nodiscard]] Response snapshots(const Request& request) const;
  [[nodiscard]] Response merge(const Request& request) const;
  [[nodiscard]] Response difference(const Request& request) const;
  [[nodiscard]] Response profile(const Request& request) const;
  [[nodiscard]] Response flame(const Request& request) const;
  [[nodiscard]] static Response not_found(const Request& request);

  static const Route kRoutes[];

  RouteSources sources_;
  RouteOptions options_;
  const Clock& clock_;
};

}  // namespace offcpud
