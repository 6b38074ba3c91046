// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/routes.h"
#include "attribution/cgroup_directory.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/thread_watch.h"
#include "config/config_loader.h"
#include "deadlock_journal.h"
#include "http/http_server.h"
#include "kernel/bpf_reading_source.h"
#include "kernel/bpf_session.h"
#include "kernel/cgroup_events.h"
#include "loss_journal.h"
#include "metrics/self_metrics.h"
#include "pipeline/cpu_history_board.h"
#include "pipeline/overhead.h"
#include "pipeline/pipeline.h"
#include "pipeline/view_board.h"
#include "reloader.h"
#include "runtime/event_loop.h"
#include "runtime/service_notifier.h"
#include "runtime/stop_deadline.h"
#include "sites/site_rules_board.h"
#include "snapshot_service.h"
#include "stall_journal.h"
#include "thread_journal.h"
#include "web_access.h"

namespace offcpud {

// Composition root: starts the parts, the ones that fail cheaply first, wires timers and signals,
// and stops the parts in reverse order. One thread owns everything; HTTP threads see the ViewBoard,
// the SelfMetrics and the members under mutex_.
class Daemon {
 public:
  // `site_rules` are those of site_rule_folders(). `spawner` null: the configuration needs no
  // readers.
  static Result<std::unique_ptr<Daemon>> start(ConfigSources sources, Config config,
                                               std::shared_ptr<const SiteRules> site_rules,
                                               std::shared_ptr<ReaderSpawner> spawner);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Runs until SIGTERM or SIGINT. If a disk hangs, it ends the process instead of returning.
  Result<int> run();

 private:
  Daemon(ConfigSources sources, Config config, std::shared_ptr<const SiteRules> site_rules,
         std::shared_ptr<ReaderSpawner> spawner);

  Status set_up();
  // Logs the features that are missing now and were not before.
  void tell_features(FeatureReport now);
  Status measure();
  Status read_web_files(const Listener& listener, bool unix_sockets);
  Status serve(Listener listener, std::optional<Listener> local);
  Status wire();

  [[nodiscard]] bool stop();

  void tick();
  Status pass();
  void follow_cgroups();
  void tell_stalls(const StallList& stalls);
  void measure_scrapes();
  void apply(const Config& config);

  [[nodiscard]] std::chrono::milliseconds pass_interval() const;
  [[nodiscard]] RouteSources route_sources();
  [[nodiscard]] IsLiveCgroup is_live_cgroup() const;
  [[nodiscard]] bool samples_stacks() const;
  [[nodiscard]] StatusReport status() const;  // without own_use, which a pass does not need
  [[nodiscard]] std::optional<OwnUse> own_use() const;
  [[nodiscard]] std::optional<PushStatus> push_status() const;

  ConfigSources sources_;
  Config config_;
  const std::shared_ptr<SiteRulesBoard> site_rules_;
  std::shared_ptr<ReaderSpawner> spawner_;
  SystemClock clock_;
  ThreadWatch threads_;
  std::shared_ptr<Heartbeat> main_;
  MonotonicTime started_ = clock_.now();
  ServiceNotifier notifier_;
  FeatureReport features_;
  std::unique_ptr<SelfMetrics> self_;
  ScrapeCosts scrape_costs_;
  const GzipSlots gzip_slots_{kGzipAtOnce,
                              [this](GzipRefusal why) { self_->count_scrape_not_compressed(why); }};
  const AddressNames address_names_;

  std::optional<BpfSession> session_;
  std::unique_ptr<CgroupEvents> cgroup_events_;
  std::unique_ptr<BpfReadingSource> source_;
  std::shared_ptr<CgroupDirectory> cgroups_;  // changed by the pipeline
  std::shared_ptr<IoStat> io_stat_;           // used by the pipeline
  std::optional<Pipeline> pipeline_;
  StallJournal stall_journal_{clock_};
  DeadlockJournal deadlock_journal_{clock_};
  LossJournal loss_journal_;
  Overhead overhead_{online_cpus()};
  CpuHistoryBoard cpu_history_;
  std::optional<ViewBoard> board_;
  std::unique_ptr<EventLoop> loop_;             // destroyed before what it calls and watches
  std::unique_ptr<SnapshotService> snapshots_;  // null: snapshots are turned off
  EventLoop::Timer* timer_ = nullptr;
  std::unique_ptr<StopDeadline> stop_deadline_;
  MonotonicTime stop_by_{};  // set by the stop signal
  const char* stage_ = "";   // of the current or last pass

  // HTTP threads read these; this thread changes them.
  mutable std::mutex mutex_;
  std::shared_ptr<const Routes> routes_;
  std::chrono::milliseconds min_pass_interval_{};
  std::uint32_t max_series_ = 0;
  std::chrono::nanoseconds last_pass_duration_{};
  std::optional<double> overhead_ratio_;
  std::uint64_t passes_ = 0;
  std::uint64_t pass_failures_ = 0;
  std::uint64_t losses_of_guard_ = 0;
  ListenAddress listen_;
  std::string local_socket_;  // as text; empty: there is none

  std::unique_ptr<WebAccess> web_;
  std::optional<Reloader> reloader_;
  std::unique_ptr<ThreadJournal> thread_journal_;
  // Last: their threads use everything above.
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpServer> local_server_;  // null: there is no local socket
};

}  // namespace offcpud
