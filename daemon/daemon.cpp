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
#include "config/config_files.h"
#include "config/config_reload.h"
#include "export/listener.h"
#include "export/process_usage.h"
#include "push/push_target.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"
#include "runtime/privileges.h"
#include "runtime/socket_activation.h"
#include "selection/process_rules.h"
#include "selection/snapshot_rules.h"
#include "selection/stall_rules.h"

namespace offcpud {
namespace {

constexpr const char* kReadStage = "read";
constexpr const char* kAttributeStage = "attribute";

// A scrape that asks for a pass gets the last View after this long; Prometheus gives up after 10 s.
constexpr std::chrono::seconds kScrapePatience{3};

// Of the 2 s within which the daemon stops; the rest is for detaching and for the HTTP server.
constexpr std::chrono::milliseconds kStopping{1600};
// web.config_file, certificates and keys are looked at this often: four stat(2) calls.
constexpr std::chrono::seconds kLookAtWebFiles{1};

// CAP_BPF for reading maps and walking over threads. CAP_SYS_PTRACE, if it was given, for process
// rules that name a program (exe), and only while there are any.
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

std::vector<std::string> files_in_force(const ConfigSources& sources) {
  std::error_code ignored;
  std::vector<std::string> files;
  if (std::filesystem::exists(sources.file, ignored)) files.push_back(sources.file.native());
  if (const auto drop_ins = list_drop_ins(sources.file.parent_path() / "conf.d")) {
    for (const std::filesystem::path& file : *drop_ins) files.push_back(file.native());
  }
  return files;
}

Result<std::filesystem::path> cgroup_root() {
  TRY(const std::string mounts, read_file("/proc/self/mountinfo", 4 << 20));
  if (auto mount = cgroup2_mount(mounts)) return *mount;
  return Error("no cgroup2 file system is mounted.", ErrorKind::Unsupported);
}

void warn_of_unreadable_exe(const Error& error) {
  log_warning_limited(
      "exe",
      error.message() +
          "; process rules with exe need CAP_SYS_PTRACE for other users' programs: systemctl "
          "edit offcpud, and there CapabilityBoundingSet= and "
          "AmbientCapabilities=CAP_SYS_PTRACE");
}

Result<PipelineOptions> pipeline_options(const Config& config) {
  PipelineOptions options{.linger = config.linger,
                          .max_series = config.max_series,
                          .stall_bounds = config.stalls.over,
                          .keep_stalls = config.stalls.keep};
  options.processes = {.top = config.processes.top, .linger = config.linger, .is_chosen = nullptr};
  TRY(options.processes.is_chosen, process_choice(config.processes, warn_of_unreadable_exe));
  TRY(options.stalls, stall_policy(config.stalls));
  return options;
}

// The socket of the service manager (offcpud.socket) goes before `listen`.
Result<Listener> find_listener(const Config& config) {
  TRY(auto passed, activated_socket());
  if (!passed) return open_listener(config.listen, config.web.socket_group);
  TRY(auto listener, adopt_listener(*std::move(passed)));
  log_info("listening on the socket of the service manager, " + listener.address().text() +
           ", in place of `listen`");
  return listener;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Daemon::Daemon(ConfigSources sources, Config config)
    : sources_(std::move(sources)), config_(std::move(config)) {}

Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(ConfigSources sources, Config config) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(sources), std::move(config)));
  TRY_VOID(daemon->set_up());
  TRY(auto listener, find_listener(daemon->config_));  // a taken port must not leave hooks
  TRY_VOID(daemon->read_web_files(listener));
  TRY_VOID(daemon->measure());
  // The threads that sample stacks keep more; those that are started from here on get no more than
  // this one.
  TRY_VOID(drop_capabilities(capabilities_to_keep(daemon->config_)));
  TRY_VOID(check_push_files(daemon->config_.push));  // as who will read them later
  TRY_VOID(daemon->wire());
  if (daemon->snapshots_) daemon->snapshots_->open();
  TRY_VOID(daemon->pass());
  TRY_VOID(daemon->serve(std::move(listener)));
  return daemon;
}

Status Daemon::set_up() {
  TRY_VOID(require_capabilities());
  features_ = probe_features();
  TRY_VOID(features_.require());
  self_ = std::make_unique<SelfMetrics>(BuildInfo{kVersion, kRevision, kernel_release()});
  for (const Feature& feature : features_.features) {
    self_->set_feature(feature.name, feature.enabled);
    if (feature.enabled) continue;
    log_info(feature.name + " is not available: " + feature.detail,
             {{kMessageId, kFeatureMissingId}, {"feature", feature.name}});
  }
  for (const char* stage : {kReadStage, kAttributeStage}) self_->add_stage(stage);
  self_->set_config_reload(true, clock_.wall());
  config_status_.files = files_in_force(sources_);
  config_status_.captured = capture_text(config_);
  min_pass_interval_ = config_.min_pass_interval;
  TRY(loop_, EventLoop::create());
  return {};
}

Status Daemon::measure() {
  TRY(auto root, cgroup_root());
  TRY(session_,
      BpfSession::load({.cgroups = config_.max_cgroups, .processes = config_.processes.max},
                       features_));
  TRY(cgroup_events_, CgroupEvents::open(*session_));
  const WallTime attaching = clock_.wall();
  TRY_VOID(session_->attach());
  TRY(source_, BpfSampleSource::open(*session_));
  TRY(auto options, pipeline_options(config_));
  pipeline_.emplace(*source_, CgroupIndex(std::move(root)), clock_, std::move(options));
  pipeline_->set_counting_since(attaching);
  board_.emplace([this] { loop_->post([this] { tick(); }); }, clock_);
  TRY_VOID(pipeline_->start());
  if (config_.snapshots.enabled) {
    TRY(snapshots_,
        SnapshotService::start(
            *session_, config_, clock_, *loop_, *self_,
            {.path_of = [this](std::uint64_t id) { return pipeline_->cgroup_path(id); },
             .exemplars = [this](auto found) { pipeline_->add_exemplars(std::move(found)); }}));
  }
  return {};
}

Status Daemon::wire() {
  for (const int number : {SIGTERM, SIGINT}) {
    TRY_VOID(loop_->on_signal(number, [this] {
      log_info("stopping", {{kMessageId, kStoppingId}});
      notifier_.stopping();
      board_->close();
      loop_->stop(0);
    }));
  }
  TRY_VOID(loop_->on_signal(SIGHUP, [this] { reload(); }));
  TRY_VOID(loop_->on_readable(cgroup_events_->fd(), [this] { follow_cgroups(); }));
  TRY(timer_, loop_->every(pass_interval(), [this] { tick(); }));
  if (!config_.web.config_file.empty()) {
    TRY_VOID(loop_->every(kLookAtWebFiles, [this] { reload_web_files(); }));
  }
  return {};
}

Status Daemon::read_web_files(const Listener& listener) {
  TRY(web_, WebAccess::read(config_.web, listener));
  for (const std::string& warning : web_->state().warnings) log_warning(warning);
  tell_certificate(web_->state());
  return {};
}

Status Daemon::serve(Listener listener) {
  listen_ = listener.address();
  apply(config_);
  const auto answer = [this](const Request& request) {
    std::shared_ptr<const Routes> routes;
    {
      const std::lock_guard lock(mutex_);
      routes = routes_;
    }
    return routes->handle(request);
  };
  web_->open(answer, clock_);
  const auto respond = [this](const Request& request) { return web_->handle(request); };
  TRY(server_, HttpServer::start(std::move(listener), respond, {}, web_->settings()));
  return {};
}

// Before anybody scrapes, so that the log says what to expect.
void Daemon::measure_scrapes() {
  const auto write = [this](SeriesWriter& out) { self_->write(out); };
  for (const auto format : {ExpositionFormat::Text, ExpositionFormat::Protobuf}) {
    const BodyStream body =
        scrape_body(board_->last(), {.format = format, .classic_buckets = config_.classic_buckets},
                    write, ContentCoding::Identity, &scrape_costs_);
    std::vector<char> block(std::size_t{64} * 1024);
    while (body(block) != 0) continue;
  }
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

// What must not stay behind goes first; what may hang comes last, and is not waited for.
bool Daemon::stop() {
  session_->detach();
  const bool done = !snapshots_ || snapshots_->stop(kStopping);
  server_.reset();
  return done;
}

// The watchdog must not fire because passes are configured to be rare.
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
  notifier_.feed_watchdog();
  notifier_.status(status_line(status()));
}

Status Daemon::pass() {
  stage_ = kReadStage;
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
  // Now: every cgroup in the sample was told of before it was charged, and may be gone already.
  follow_cgroups();
  const MonotonicTime read = clock_.now();
  self_->observe_pass(stage_, read - begin);

  stage_ = kAttributeStage;
  auto view = pipeline_->attribute(*sample);
  if (!view) return fail(std::move(view).error());
  warn_of_losses(**view);
  self_->set_program_costs((*view)->programs);
  const auto overhead = overhead_.over_last_minute(read, (*view)->programs, own_cpu_time());
  if (overhead) self_->set_overhead(*overhead);
  const MonotonicTime end = clock_.now();
  self_->observe_pass(stage_, end - read);
  {
    const std::lock_guard lock(mutex_);
    ++passes_;
    if (overhead) overhead_ratio_ = overhead;
    last_pass_duration_ = end - begin;
  }
  tell_stalls();
  board_->publish(*std::move(view));
  return {};
}

void Daemon::tell_stalls() {
  const StallChanges changes = pipeline_->take_stall_changes();
  for (const auto& stall : changes.begun) self_->count_stall(stall->kind);
  stall_journal_.record(changes);
}

void Daemon::follow_cgroups() {
  const auto drained =
      cgroup_events_->drain([this](const CgroupChange& change) { pipeline_->apply(change); });
  if (!drained) log_warning_limited("cgroup_events", drained.error().message());
}

void Daemon::warn_of_losses(const View& view) {
  for (const LossCount& loss : losses_.grown(view.losses)) {
    const std::string count = std::to_string(loss.events);
    log_warning_limited("lost " + loss.cause,
                        "the kernel side has lost " + count + " events so far, cause " +
                            loss.cause + ": docs/semantics.md says what that does to the numbers",
                        {{kMessageId, kEventsLostId}, {"cause", loss.cause}, {"count", count}});
  }
}

void Daemon::reload() {
  notifier_.reloading();
  auto wanted = load_config(sources_);
  // Both or neither: a bad web.config_file is a bad configuration.
  Result<WebAccess::State> access = Error("not read");
  waits_for_web_files_ = false;
  if (wanted) {
    access = web_->prepare(config_after_reload(config_, *wanted).web);
    const Status push = check_push_files(wanted->push);
    waits_for_web_files_ = push && !access;
    if (!push) wanted = push.error();
    if (!access) wanted = access.error();
    if (access) refused_web_files_.clear();
  }
  if (wanted) {
    const std::vector<std::string> waiting = keys_needing_restart(config_, *wanted);
    if (!waiting.empty()) log_warning("takes effect on the next start: " + joined(waiting));
    commit(*std::move(access));
    apply(config_after_reload(config_, *wanted));
    refused_reload_.clear();
    log_info("configuration reloaded", {{kMessageId, kReloadedId}});
    const std::lock_guard lock(mutex_);
    config_status_.files = files_in_force(sources_);
    config_status_.captured = capture_text(config_);
  } else {
    refused_reload_ = wanted.error().message();
    log_error(refused_reload_ + "; keeping the running configuration",
              {{kMessageId, kReloadRefusedId}, {"error", refused_reload_}});
  }
  tell_reload();
  notifier_.ready(status_line(status()));
}

void Daemon::tell_reload() {
  const std::string& error = refused_reload_.empty() ? refused_web_files_ : refused_reload_;
  self_->set_config_reload(error.empty(), clock_.wall());
  const std::lock_guard lock(mutex_);
  config_status_.last_reload_successful = error.empty();
  config_status_.last_reload_error = error;
}

// As the exporter toolkit does: a renewed certificate needs no signal.
void Daemon::reload_web_files() {
  if (!web_->files_changed()) return;
  if (waits_for_web_files_) return reload();  // which was asked for, and refused for them alone
  auto access = web_->prepare(config_.web);
  refused_web_files_ = access ? "" : access.error().message();
  if (access) {
    commit(*std::move(access));
    log_info("TLS and users reloaded", {{kMessageId, kReloadedId}});
  } else {
    log_error(refused_web_files_ + "; keeping the TLS and users in use",
              {{kMessageId, kReloadRefusedId}, {"error", refused_web_files_}});
  }
  tell_reload();
  notifier_.status(status_line(status()));
}

void Daemon::commit(WebAccess::State state) {
  const std::vector<std::string> known = web_->state().warnings;
  for (const std::string& warning : state.warnings) {
    if (std::ranges::find(known, warning) == known.end()) log_warning(warning);
  }
  tell_certificate(state);
  web_->commit(std::move(state));
}

void Daemon::tell_certificate(const WebAccess::State& state) {
  if (state.tls) self_->set_certificate_expiry(state.tls->expires());
}

void Daemon::apply(const Config& config) {
  config_ = config;
  set_log_level(parse_log_level(config.log_level).value_or(LogLevel::Info));
  // The loader has compiled every expression already, so this does not fail.
  if (auto options = pipeline_options(config)) {
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
  sources.scrape_costs = &scrape_costs_;
  if (snapshots_) sources.snapshots = &snapshots_->handlers();
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
  report.uptime = clock_.now() - started_;
  for (const Feature& feature : features_.features) {
    report.features.push_back(
        {feature.name, feature.enabled,
         feature.enabled ? feature.detail : feature.detail + "; " + feature.remedy});
  }
  const std::shared_ptr<const View> view = board_->last();
  const std::lock_guard lock(mutex_);
  report.listen = listen_.text();
  report.passes = passes_;
  report.pass_failures = pass_failures_;
  report.config = config_status_;
  report.max_series = max_series_;
  report.scrapes = scrape_costs_.last();
  report.push = push_status();
  if (view) {
    describe_view(report, *view, clock_.now());
    if (report.last_pass) report.last_pass->duration = last_pass_duration_;
  }
  return report;
}

}  // namespace offcpud
