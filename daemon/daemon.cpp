// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <sys/utsname.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "attribution/cgroup_mount.h"
#include "base/exit_code.h"
#include "base/file_io.h"
#include "base/version.h"
#include "listeners.h"
#include "metrics/process_usage.h"
#include "peers/device_names.h"
#include "peers/whole_disks.h"
#include "pipeline_settings.h"
#include "push/push_target.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"
#include "runtime/privileges.h"

namespace offcpud {
namespace {

constexpr const char* kReadStage = "read";
constexpr const char* kAttributeStage = "attribute";

// A scrape that asks for a pass gets the last View after this long; Prometheus gives up after 10 s.
constexpr std::chrono::seconds kScrapePatience{3};

// The daemon stops within 2 s of the signal. This is the time to detach, to take, write and push
// the last snapshot; the rest is for the HTTP server and for freeing memory.
constexpr std::chrono::milliseconds kStopping{1300};
// The minimum for the snapshot, even if detaching used up all the time: finished work is kept.
constexpr std::chrono::milliseconds kLeastStopping{300};
// Then the process ends, whatever it is doing, and the kernel ends its threads and closes its maps.
// Each step has a limit, but on a busy host, or when the kernel itself waits, a step may exceed it.
// Nothing is lost that a crash would not lose: files are renamed into place.
constexpr std::chrono::milliseconds kEnding{1700};
// Far beyond what each piece of work takes on a busy host. `main` has no hopeless limit: it feeds
// the watchdog, so the service manager ends it when it hangs.
constexpr ThreadLimits kMainLimits{.stuck = std::chrono::seconds(30), .hopeless = {}};
constexpr ThreadLimits kHttpLimits{.stuck = std::chrono::seconds(30),
                                   .hopeless = std::chrono::minutes(5)};
// No hopeless limit: a slow hash takes as long in the next process.
constexpr ThreadLimits kPasswordLimits{.stuck = std::chrono::seconds(30), .hopeless = {}};
// How often web.config_file, certificates and keys are checked for changes: four stat(2) calls.
constexpr std::chrono::seconds kLookAtWebFiles{1};

// CAP_BPF is for reading maps and walking over threads. CAP_SYS_PTRACE, if given, is for process
// rules that name a program (exe), and kept only while there are any.
std::vector<Capability> capabilities_to_keep(const Config& config) {
  std::vector<Capability> kept = {Capability::Bpf};
  const bool names_programs = std::ranges::any_of(
      config.processes.rules, [](const ProcessRule& rule) { return !rule.exe.empty(); });
  if (names_programs) kept.push_back(Capability::SysPtrace);
  return kept;
}

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "unknown";
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "unknown";
}

Result<std::filesystem::path> cgroup_root() {
  TRY(const std::string mounts, read_file("/proc/self/mountinfo", 4 << 20));
  if (auto mount = cgroup2_mount(mounts)) return *mount;
  return Error("no cgroup2 file system is mounted.", ErrorKind::Unsupported);
}

// Null: the kernel programs count the requests, or nothing does.
std::shared_ptr<IoStat> io_stat_of(const Config& config, const BpfSession& session,
                                   const std::filesystem::path& cgroups) {
  if (config.disk_loads == "off" || session.counts_disk_loads()) return nullptr;
  const auto names = std::make_shared<DeviceNames>();
  return std::make_shared<IoStat>(
      cgroups, [names](std::uint32_t device) { return disk_name(names->of(device)); });
}

}  // namespace

Daemon::Daemon(ConfigSources sources, Config config, std::shared_ptr<const SiteRules> site_rules,
               std::shared_ptr<ReaderSpawner> spawner)
    : sources_(std::move(sources)),
      config_(std::move(config)),
      site_rules_(std::make_shared<SiteRulesBoard>(std::move(site_rules))),
      spawner_(std::move(spawner)) {}

Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(ConfigSources sources, Config config,
                                              std::shared_ptr<const SiteRules> site_rules,
                                              std::shared_ptr<ReaderSpawner> spawner) {
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::move(sources), std::move(config), std::move(site_rules), std::move(spawner)));
  TRY_VOID(daemon->set_up());
  TRY(auto listener, find_listener(daemon->config_));  // a taken port must not leave hooks
  TRY_VOID(check_absent_file(daemon->config_, daemon->sources_,
                             listener.reach().local ? std::string() : listener.address().text()));
  auto local = find_local_listener(daemon->config_, listener);
  TRY_VOID(daemon->read_web_files(listener, local || listener.address().is_unix()));
  TRY_VOID(daemon->measure());
  // Reader processes (daemon/reader) access other processes. From here on, no thread has more
  // capabilities than this one.
  TRY_VOID(drop_capabilities(capabilities_to_keep(daemon->config_)));
  TRY_VOID(check_push_files(daemon->config_.push));  // with the rights that the push thread has
  TRY_VOID(daemon->wire());
  if (daemon->snapshots_) daemon->snapshots_->open(daemon->is_live_cgroup());
  TRY_VOID(daemon->pass());
  TRY_VOID(daemon->serve(std::move(listener), std::move(local)));
  daemon->main_->end();
  daemon->thread_journal_ = std::make_unique<ThreadJournal>(daemon->threads_);
  return daemon;
}

Status Daemon::set_up() {
  TRY_VOID(require_capabilities());
  FeatureReport features = probe_features();
  TRY_VOID(features.require());
  self_ =
      std::make_unique<SelfMetrics>(BuildInfo{kVersion, kRevision, kernel_release()}, &threads_);
  tell_features(std::move(features));
  for (const char* stage : {kReadStage, kAttributeStage}) self_->add_stage(stage);
  min_pass_interval_ = config_.min_pass_interval;
  main_ = threads_.add("main", kMainLimits);
  TRY(loop_, EventLoop::create(main_));
  return {};
}

void Daemon::tell_features(FeatureReport now) {
  const auto was_missing = [this](const std::string& name) {
    return std::ranges::any_of(features_.features, [&](const Feature& before) {
      return before.name == name && !before.enabled;
    });
  };
  for (const Feature& feature : now.features) {
    self_->set_feature(feature.name, feature.enabled);
    if (feature.enabled || was_missing(feature.name)) continue;
    log_info(feature.name + " is not available: " + feature.detail +
                 (feature.refused ? "; " + feature.remedy : ""),
             {{kMessageId, kFeatureMissingId}, {"feature", feature.name}});
  }
  features_ = std::move(now);
}

Status Daemon::measure() {
  TRY(auto root, cgroup_root());
  TRY(session_, BpfSession::load({.cgroups = config_.max_cgroups,
                                  .processes = config_.processes.max,
                                  .takers = config_.max_takers > 0,
                                  .disk_loads = config_.disk_loads == "trace"},
                                 features_));
  tell_features(session_->features());
  TRY(cgroup_events_, CgroupEvents::open(*session_));
  if (auto init = GuardedInit::find()) loss_journal_.set_guarded(*std::move(init));
  const WallTime attaching = clock_.wall();
  TRY_VOID(session_->attach());
  TRY(source_, BpfReadingSource::open(*session_));
  io_stat_ = io_stat_of(config_, *session_, root);
  TRY(auto options, pipeline_options(config_, samples_stacks(), io_stat_));
  cgroups_ = std::make_shared<CgroupDirectory>(std::move(root));
  pipeline_.emplace(*source_, *cgroups_, clock_, std::move(options));
  pipeline_->set_counting_since(attaching);
  board_.emplace([this] { loop_->post([this] { tick(); }); }, clock_);
  TRY_VOID(pipeline_->start());
  if (spawner_ == nullptr) return {};
  TRY(snapshots_,
      SnapshotService::start(
          {*session_, clock_, cgroups_, site_rules_, spawner_}, config_, *loop_, *self_, threads_,
          {.exemplars = [this](auto found) { pipeline_->add_exemplars(std::move(found)); },
           .waits = [this](auto window) { pipeline_->add_waits(std::move(window)); },
           .goroutines = [this](auto window) { pipeline_->add_goroutines(std::move(window)); },
           .view = [this] { return board_->last(); }}));
  return {};
}

Status Daemon::wire() {
  for (const int number : {SIGTERM, SIGINT}) {
    TRY_VOID(loop_->on_signal(number, [this] {
      stop_by_ = stop_deadline_->taken() + kStopping;
      log_info("stopping", {{kMessageId, kStoppingId}});
      notifier_.stopping();
      board_->close();
      loop_->stop(0);
    }));
  }
  TRY(stop_deadline_, StopDeadline::start(kEnding));
  TRY_VOID(loop_->on_signal(SIGHUP, [this] {
    main_->begin("reloading the configuration");
    reloader_->reload();
  }));
  TRY_VOID(loop_->on_readable(cgroup_events_->fd(), [this] { follow_cgroups(); }));
  TRY(timer_, loop_->every(pass_interval(), [this] { tick(); }));
  if (!config_.web.config_file.empty()) {
    TRY_VOID(loop_->every(kLookAtWebFiles, [this] { reloader_->reload_web_files(); }));
  }
  return {};
}

Status Daemon::read_web_files(const Listener& listener, bool unix_sockets) {
  TRY(web_, WebAccess::read(config_.web, listener, unix_sockets));
  reloader_.emplace(Reloader::Parts{.sources = sources_,
                                    .running = config_,
                                    .site_rules = *site_rules_,
                                    .web = *web_,
                                    .metrics = *self_,
                                    .notifier = notifier_,
                                    .clock = clock_},
                    Reloader::Callbacks{.apply = [this](const Config& config) { apply(config); },
                                        .status_line = [this] { return status_line(status()); }});
  return {};
}

Status Daemon::serve(Listener listener, std::optional<Listener> local) {
  listen_ = listener.address();
  if (local) local_socket_ = local->address().text();
  apply(config_);
  const auto answer = [this](const Request& request) {
    std::shared_ptr<const Routes> routes;
    {
      const std::lock_guard lock(mutex_);
      routes = routes_;
    }
    return routes->handle(request);
  };
  web_->open(answer, clock_, threads_.add("passwords", kPasswordLimits));
  const auto deadlines = [this] { return threads_.add("connections", kHttpLimits); };
  const auto watched = [this](auto handle) {
    return [this, handle](const Request& request) {
      thread_local const auto heartbeat = threads_.add("http", kHttpLimits);
      const PieceOfWork piece(heartbeat, "answering a request", request.path);
      return handle(request);
    };
  };
  const auto respond = watched([this](const Request& request) { return web_->handle(request); });
  TRY(server_, HttpServer::start(std::move(listener), respond, {}, web_->settings(), deadlines()));
  if (!local) return {};
  const auto respond_local =
      watched([this](const Request& request) { return web_->handle_local(request); });
  TRY(local_server_, HttpServer::start(*std::move(local), respond_local, kLocalLimits,
                                       web_->local_settings(), deadlines()));
  return {};
}

// Before the first scrape, so that the log says what a scrape costs.
void Daemon::measure_scrapes() {
  scrape_costs_.measure(board_->last(), config_.classic_buckets,
                        [this](SeriesWriter& out) { self_->write(out); });
  log_info(scrape_line(scrape_costs_.last()) +
           "; max_series = " + std::to_string(config_.max_series) + " bounds the histograms");
}

Result<int> Daemon::run() {
  measure_scrapes();
  notifier_.ready(status_line(status()));
  log_info("ready: " + listen_.url("/metrics", web_->uses_tls() ? "https" : "http"),
           {{kMessageId, kReadyId}, {"listen", listen_.text()}});
  auto code = loop_->run();
  if (!stop()) {
    log_warning("a disk or a process does not answer: ending without waiting for it");
    std::_Exit(code ? *code : static_cast<int>(ExitCode::Internal));
  }
  return code;
}

// First what must not be left attached; last what may hang, which is not waited for.
bool Daemon::stop() {
  session_->detach();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(stop_by_ - clock_.now());
  const bool done = !snapshots_ || snapshots_->stop(std::max(left, kLeastStopping));
  server_.reset();
  local_server_.reset();
  return done;
}

// At least as often as the watchdog needs, however rare passes are configured to be.
std::chrono::milliseconds Daemon::pass_interval() const {
  const auto watchdog = notifier_.watchdog_interval();
  if (!watchdog) return config_.pass_interval;
  return std::min(config_.pass_interval,
                  std::chrono::duration_cast<std::chrono::milliseconds>(*watchdog / 3));
}

void Daemon::tick() {
  if (auto passed = pass(); !passed) {
    log_warning_limited("pass", passed.error().message() + "; keeping the last view",
                        {{kMessageId, kPassFailedId}, {"stage", stage_}});
    return;
  }
  // Callers of a hopeless thread would wait for ever; only another process helps.
  if (!threads_.hopeless()) notifier_.feed_watchdog();
  notifier_.status(status_line(status()));
}

Status Daemon::pass() {
  stage_ = kReadStage;
  main_->begin("reading the kernel maps");
  const MonotonicTime begin = clock_.now();
  const auto fail = [&](Error error) {
    self_->count_pass_failure(stage_);
    {
      const std::lock_guard lock(mutex_);
      ++pass_failures_;
    }
    board_->give_up();
    return std::move(error).with(stage_);
  };
  auto sample = pipeline_->read();
  if (!sample) return fail(std::move(sample).error());
  // Now: the source has reported every cgroup of the sample, and some may be gone already.
  follow_cgroups();
  const MonotonicTime read = clock_.now();
  self_->observe_pass(stage_, read - begin);

  stage_ = kAttributeStage;
  main_->begin("adding up what was read");
  auto view = pipeline_->attribute(*sample);
  if (!view) return fail(std::move(view).error());
  loss_journal_.record((*view)->losses);
  self_->set_program_costs((*view)->programs);
  const auto overhead = overhead_.over_last_minute(read, (*view)->programs,
                                                   own_cpu_time() + self_->reader_counts().cpu);
  if (overhead) self_->set_overhead(*overhead);
  const MonotonicTime end = clock_.now();
  self_->observe_pass(stage_, end - read);
  {
    const std::lock_guard lock(mutex_);
    ++passes_;
    if (overhead) overhead_ratio_ = overhead;
    losses_of_guard_ = loss_journal_.of_guard();
    last_pass_duration_ = end - begin;
  }
  cpu_history_.record(**view);
  tell_stalls(*(*view)->stalls);
  deadlock_journal_.record((*view)->deadlocks.get());
  board_->publish(*std::move(view));
  return {};
}

void Daemon::tell_stalls(const StallList& stalls) {
  const StallChanges changes = pipeline_->take_stall_changes();
  for (const auto& stall : changes.begun) self_->count_stall(stall->kind);
  for (const auto& stall : changes.ended) {
    if (stall->taken_back) self_->count_stall_taken_back(stall->kind);
  }
  self_->set_stalls_beyond_limit(stalls.beyond_limit());
  stall_journal_.record(changes);
}

void Daemon::follow_cgroups() {
  const auto drained =
      cgroup_events_->drain([this](const CgroupChange& change) { pipeline_->apply(change); });
  if (!drained) log_warning_limited("cgroup_events", drained.error().message());
}

void Daemon::apply(const Config& config) {
  config_ = config;
  set_log_level(parse_log_level(config.log_level).value_or(LogLevel::Info));
  // The loader has already compiled every expression, so this does not fail.
  if (auto options = pipeline_options(config, samples_stacks(), io_stat_)) {
    pipeline_->set_options(*std::move(options));
  } else {
    log_error(options.error().message());
  }
  source_->set_walk_budget(config.walk_cpu_budget);
  if (snapshots_) snapshots_->apply(config);
  timer_->set_interval(pass_interval());
  const RouteOptions options{.classic_buckets = config.classic_buckets,
                             .stale_after = std::max<std::chrono::milliseconds>(
                                 3 * pass_interval(), std::chrono::seconds(30))};
  auto routes = std::make_shared<const Routes>(route_sources(), options, clock_);
  const std::lock_guard lock(mutex_);
  routes_ = std::move(routes);
  min_pass_interval_ = config.min_pass_interval;
  max_series_ = config.max_series;
}

bool Daemon::samples_stacks() const {
  return spawner_ != nullptr && session_->takes_stacks();
}

IsLiveCgroup Daemon::is_live_cgroup() const {
  return [this](std::string_view path) { return cgroups_->is_live(path); };
}

RouteSources Daemon::route_sources() {
  RouteSources sources;
  sources.view = [this](Freshness freshness) {
    if (freshness == Freshness::Last) return board_->last();
    std::chrono::milliseconds max_age{};
    {
      const std::lock_guard lock(mutex_);
      max_age = min_pass_interval_;
    }
    return board_->fresh(max_age, kScrapePatience);
  };
  sources.status = [this] {
    StatusReport report = status();
    report.own_use = own_use();
    return report;
  };
  sources.self_metrics = [this](SeriesWriter& out) { self_->write(out); };
  sources.is_live_cgroup = is_live_cgroup();
  sources.scrape_costs = &scrape_costs_;
  sources.gzip = gzip_slots_;
  sources.address_names = &address_names_;
  sources.threads = &threads_;
  if (snapshots_) {
    snapshots_->add_to(sources);
    sources.cpu_history = [this] { return cpu_history_.steps(); };
  }
  return sources;
}

std::optional<PushStatus> Daemon::push_status() const {
  if (!snapshots_) return std::nullopt;
  PushState push = snapshots_->push_state();
  if (push.url.empty()) return std::nullopt;
  return PushStatus{.url = std::move(push.url),
                    .queued = push.queued,
                    .queued_bytes = push.queued_bytes,
                    .last_success = push.last_success,
                    .last_error = std::move(push.last_error)};
}

std::optional<OwnUse> Daemon::own_use() const {
  const auto usage = read_process_usage("/proc");
  if (!usage) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return OwnUse{.resident_bytes = usage->resident_bytes,
                .cpu_seconds = usage->cpu_seconds,
                .overhead_ratio = overhead_ratio_};
}

StatusReport Daemon::status() const {
  StatusReport report;
  report.version = kVersion;
  report.revision = kRevision;
  report.kernel = kernel_release();
  report.host = host_name();
  report.uptime = clock_.now() - started_;
  for (const Feature& feature : features_.features) {
    report.features.push_back(
        {feature.name, feature.enabled,
         feature.enabled ? feature.detail : feature.detail + "; " + feature.remedy});
  }
  report.threads = threads_.states();
  report.config = reloader_->status();
  const std::shared_ptr<const View> view = board_->last();
  const std::lock_guard lock(mutex_);
  report.listen = listen_.text();
  report.local_socket = local_socket_;
  report.passes = passes_;
  report.pass_failures = pass_failures_;
  report.losses_of_guard = losses_of_guard_;
  report.max_series = max_series_;
  report.scrapes = scrape_costs_.last();
  report.push = push_status();
  if (snapshots_) {
    report.over_share = snapshots_->over_share();
    const SelfMetrics::ReaderCounts counts = self_->reader_counts();
    report.readers = {.hangs = counts.hangs, .refused = counts.refused, .stuck = counts.stuck};
  }
  if (view) {
    describe_view(report, *view, clock_.now());
    if (report.last_pass) report.last_pass->duration = last_pass_duration_;
  }
  return report;
}

}  // namespace offcpud
