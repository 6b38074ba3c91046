// SPDX-License-Identifier: Apache-2.0
#include "snapshot_service.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/printable.h"
#include "runtime/heap.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"
#include "selection/snapshot_rules.h"
#include "selection/stall_rules.h"

namespace offcpud {
namespace {

// How long the start waits for the disk, so that first requests find the kept snapshots.
constexpr std::chrono::seconds kOpening{1};
// Part of the stopping time that the thread which takes stacks must leave to the others.
constexpr std::chrono::milliseconds kWriting{300};
// Time for pushing the last snapshot to a server.
constexpr std::chrono::milliseconds kPushing{300};

// Far beyond what each piece of work takes on a busy host. Where a disk or a server does not answer
// there is no hopeless limit: another process would not help, and would end what works.
constexpr std::chrono::minutes kHopeless{5};
constexpr ThreadLimits kStacksLimits{.stuck = std::chrono::seconds(30), .hopeless = kHopeless};
constexpr ThreadLimits kSymbolsLimits{.stuck = std::chrono::seconds(60), .hopeless = kHopeless};
constexpr ThreadLimits kWriterLimits{.stuck = std::chrono::seconds(60), .hopeless = {}};
constexpr ThreadLimits kRequestLimits{.stuck = std::chrono::minutes(2), .hopeless = {}};
// A piece is one look, or one program that is opened.
constexpr ThreadLimits kLooksLimits{
    .stuck = std::chrono::minutes(2), .hopeless = {}, .needed = false};
// push.timeout is at most 5 min; the client limits the rest itself.
constexpr ThreadLimits kPushLimits{
    .stuck = std::chrono::minutes(10), .hopeless = {}, .needed = false};

// What threads wait for is said as often as passes need it, and always within some seconds. Shorter
// windows would cost more than they say.
constexpr std::chrono::milliseconds kLeastWindow{1'000};
constexpr std::chrono::milliseconds kLongestWindow{10'000};

SnapshotLimits limits_of(const Config& config) {
  return {.keep_for = config.snapshots.keep_for, .keep_bytes = config.snapshots.keep_bytes};
}

SamplerOptions sampler_options(const Config& config) {
  SamplerOptions options;
  options.interval = config.snapshots.interval;
  options.stacks_per_second = config.snapshots.stacks_per_second;
  options.window = std::clamp(config.pass_interval, kLeastWindow, kLongestWindow);
  options.long_block = least_threshold(config.stalls);
  // The loader has already compiled every expression, so this does not fail.
  if (auto rules = capture_rules(config)) {
    options.capture = std::make_shared<const CaptureRules>(*std::move(rules));
  } else {
    log_error(rules.error().message());
  }
  return options;
}

}  // namespace

SnapshotService::SnapshotService(const Config& config, const SamplerInputs& inputs, EventLoop& loop,
                                 SelfMetrics& metrics, ThreadWatch& threads, Takers takers)
    : metrics_(metrics),
      loop_(loop),
      threads_(threads),
      takers_(std::move(takers)),
      store_(std::filesystem::path(config.state_dir) / "snapshots", limits_of(config), inputs.clock,
             store_reports()),
      clock_(inputs.clock),
      sites_(inputs.sites),
      goroutine_options_(goroutine_options(config)),
      over_share_(metrics, inputs.clock) {}

SnapshotService::Serving::Serving(SnapshotService& service, const Clock& clock,
                                  IsLiveCgroup is_live)
    : push(clock, service.push_reports(), service.threads_.add("push", kPushLimits)),
      writer(
          // A failure is reported, and tried again.
          [&service] { (void)service.store_.open(); },
          // The file first, so that it exists whatever becomes of the push.
          [this, &service](Snapshot snapshot) {
            const bool kept = service.store_.put(snapshot);
            push.submit(std::move(snapshot));
            give_heap_back();  // the interval's memory; nobody waits for it here
            return kept;
          },
          [&service] { service.metrics_.count_snapshot_failure(SnapshotFailure::QueueFull); },
          service.threads_.add("writer", kWriterLimits)),
      requests(service.threads_.add("requests", kRequestLimits)),
      handlers(service.store_, service, requests, clock, is_live),
      changes(service.store_, requests, clock, std::move(is_live)),
      goroutine_source(clock, [&service] { return service.readers(); }),
      goroutine_requests(service.threads_.add("goroutines", kRequestLimits),
                         {.thread = "offcpud-golang", .work = "reading a program's goroutines"}),
      goroutines(goroutine_source, goroutine_requests),
      goroutine_watch(service.goroutine_parts(), service.goroutine_options_) {}

SnapshotService::~SnapshotService() {
  const std::lock_guard lock(inbox_->mutex);
  inbox_->service = nullptr;
}

Result<std::unique_ptr<SnapshotService>> SnapshotService::start(
    const SamplerInputs& inputs, const Config& config, EventLoop& loop, SelfMetrics& metrics,
    ThreadWatch& threads, Takers takers) {
  std::unique_ptr<SnapshotService> service(
      new SnapshotService(config, inputs, loop, metrics, threads, std::move(takers)));
  TRY(service->sampler_,
      StackSampler::start(inputs, sampler_options(config), service->sampler_reports()));
  if (const auto left = inputs.spawner->hung()) service->tell_left_behind(left->size());
  return service;
}

// Readers of earlier runs; this run has given up none, or hardly one, so far.
void SnapshotService::tell_left_behind(std::size_t readers) {
  metrics_.set_readers_stuck(static_cast<unsigned>(readers));
  if (readers == 0) return;
  log_warning(std::to_string(readers) +
                  " readers of an earlier run still wait for a process or a file system that does "
                  "not answer; they count towards the limit of " +
                  std::to_string(HungReaders::kMost) + " hung readers",
              {{kMessageId, kReaderHungId}, {"readers", std::to_string(readers)}});
}

void SnapshotService::open(IsLiveCgroup is_live) {
  serving_.emplace(*this, clock_, std::move(is_live));
  if (!serving_->writer.wait(kOpening)) {
    log_warning("snapshots: the disk does not answer; going on without it");
  }
  const std::lock_guard lock(inbox_->mutex);
  inbox_->service = this;
  for (SampledSnapshot& sampled : std::exchange(inbox_->early, {})) write(std::move(sampled));
  for (auto& window : std::exchange(inbox_->early_waits, {})) tell(std::move(window));
}

void SnapshotService::add_to(RouteSources& sources) const {
  sources.snapshots = &serving_->handlers;
  sources.changes = &serving_->changes;
  sources.goroutines = &serving_->goroutines;
}

std::shared_ptr<ReaderShare> SnapshotService::readers() {
  const std::lock_guard lock(sampler_mutex_);
  return sampler_ ? sampler_->readers() : nullptr;
}

void SnapshotService::apply(const Config& config) {
  store_.set_limits(limits_of(config));
  sampler_->set_options(sampler_options(config));
  serving_->goroutine_watch.apply(goroutine_options(config));
  serving_->push.apply(push_target(config.push, own_host_name()), config.push.queue_bytes);
}

bool SnapshotService::stop(std::chrono::milliseconds patience) {
  const MonotonicTime deadline = clock_.now() + patience;
  const auto left = [&] {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_.now()),
                    std::chrono::milliseconds(0));
  };
  (void)serving_->requests.finish(std::chrono::milliseconds(0));  // cancels what is long
  (void)serving_->goroutine_requests.finish(std::chrono::milliseconds(0));
  (void)serving_->goroutine_watch.finish(std::chrono::milliseconds(0));
  std::unique_ptr<StackSampler> sampler;
  {
    const std::lock_guard lock(sampler_mutex_);
    sampler = std::move(sampler_);
  }
  bool done = sampler->stop(left() - kWriting);
  if (!done) (void)sampler.release();  // its thread uses it
  sampler.reset();
  done = serving_->writer.finish(left()) && done;  // what is not written is counted
  done = serving_->requests.finish(left()) && done;
  done = serving_->goroutine_requests.finish(left()) && done;
  done = serving_->goroutine_watch.finish(left()) && done;
  return serving_->push.finish(std::min(left(), kPushing)) && done;
}

void SnapshotService::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                                std::function<void(Result<Snapshot>)> done) {
  const std::lock_guard lock(sampler_mutex_);
  if (!sampler_) return done(Error("offcpud is stopping"));
  sampler_->take_next(length, filter, [done = std::move(done)](Result<SampledSnapshot> sampled) {
    if (!sampled) return done(std::move(sampled).error());
    done(std::move(sampled->snapshot));
  });
}

SnapshotReports SnapshotService::store_reports() {
  SnapshotReports reports;
  reports.written = [this](const StoredSnapshot& stored) {
    metrics_.count_snapshot_written(stored.name.end);
  };
  reports.kept = [this](std::uint64_t bytes) { metrics_.set_snapshot_bytes(bytes); };
  reports.failed = [this](SnapshotFailure cause, const std::string& sentence, bool first) {
    metrics_.count_snapshot_failure(cause);
    if (first) log_warning("snapshots: " + sentence);
  };
  return reports;
}

PushReports SnapshotService::push_reports() {
  return {.ended = [this](PushResult result, WallTime at) { metrics_.count_push(result, at); },
          .failed = [this](PushFailure cause) { metrics_.count_push_failure(cause); },
          .queued = [this](std::uint64_t bytes) { metrics_.set_push_queue_bytes(bytes); }};
}

SamplerReports SnapshotService::sampler_reports() {
  SamplerReports reports;
  reports.stacks = threads_.add("stacks", kStacksLimits);
  reports.symbols = threads_.add("symbols", kSymbolsLimits);
  reports.finished = [this, inbox = inbox_](Result<SampledSnapshot> sampled) {
    if (sampled) return inbox->put(*std::move(sampled));
    // Runs on the sampler's thread, which this object outlives.
    metrics_.count_snapshot_failure(SnapshotFailure::QueueFull);
    log_warning_limited("stacks dropped", "a snapshot is given up: " + sampled.error().message());
  };
  reports.examined = [inbox = inbox_](std::shared_ptr<const WaitWindow> window) {
    inbox->put(std::move(window));
  };
  reports.sampled = [this](std::uint32_t user_end) { metrics_.count_stack_sample(user_end); };
  reports.located_early = [this] { metrics_.count_stack_located_early(); };
  reports.adapted = [this](std::chrono::nanoseconds interval) {
    metrics_.set_sampling_interval(interval);
  };
  // Reports each object once. Within a minute the log names the first and counts the others.
  reports.refused = [this](const std::string& path, const ObjectRefusals& causes) {
    metrics_.count_refused_objects(causes);
    std::string names;
    causes.for_each([&names](ObjectRefusal cause) {
      names.append(names.empty() ? "" : ", ").append(name_of(cause));
    });
    log_warning_limited("object refused", "stacks: '" + path +
                                              "' asks for more than offcpud reads of "
                                              "one object; left out: " +
                                              names);
  };
  reports.over_share = [this](const std::vector<OverShare>& processes, std::uint64_t left_out) {
    over_share_.post(processes, left_out);
  };
  reports.losses = [this](const StackLosses& losses) { metrics_.set_stack_losses(losses); };
  reports.readers = reader_reports();
  reports.warned = [](std::string_view topic, const std::string& sentence) {
    log_warning_limited("stacks " + std::string(topic), "stacks: " + sentence);
  };
  return reports;
}

ReaderReports SnapshotService::reader_reports() {
  ReaderReports reports;
  reports.hung = [this](ReadOf what, std::uint32_t tgid, std::string_view path) {
    const std::string name = kReadOfNames[static_cast<std::size_t>(what)];
    metrics_.count_reader_hang(name);
    const std::string shown = printable(path);
    const std::string of = "process " + std::to_string(tgid) + (shown.empty() ? "" : ", " + shown);
    log_warning_limited("reader " + name,
                        "reading of " + of + ": " + name +
                            " does not answer; going on without it: stacks of this process may be "
                            "incomplete",
                        {{kMessageId, kReaderHungId},
                         {"pid", std::to_string(tgid)},
                         {"what", name},
                         {"path", shown}});
  };
  reports.refused = [this](Refusal cause) {
    metrics_.count_reader_refusal(kRefusalNames[static_cast<std::size_t>(cause)]);
  };
  reports.stuck = [this](unsigned readers) { metrics_.set_readers_stuck(readers); };
  reports.spent = [this](std::chrono::nanoseconds cpu) { metrics_.add_reader_cpu(cpu); };
  metrics_.add_reader_series(kReadOfNames, kRefusalNames);
  return reports;
}

GoroutineWatch::Parts SnapshotService::goroutine_parts() {
  return {
      .clock = clock_,
      .sites = sites_,
      .readers = readers(),
      .heartbeat = threads_.add("goroutine-looks", kLooksLimits),
      .view = takers_.view,
      .window =
          [this](std::shared_ptr<const GoroutineWindow> window) {
            loop_.post([this, window = std::move(window)] { takers_.goroutines(window); });
          },
      .totals = [this](const GoroutineTotals& totals) { metrics_.set_goroutine_totals(totals); }};
}

void SnapshotService::Inbox::put(SampledSnapshot sampled) {
  const std::lock_guard lock(mutex);
  if (service == nullptr) return early.push_back(std::move(sampled));
  service->write(std::move(sampled));
}

void SnapshotService::Inbox::put(std::shared_ptr<const WaitWindow> window) {
  const std::lock_guard lock(mutex);
  if (service == nullptr) return early_waits.push_back(std::move(window));
  service->tell(std::move(window));
}

void SnapshotService::tell(std::shared_ptr<const WaitWindow> window) {
  loop_.post([this, window = std::move(window)] { takers_.waits(window); });
}

// Exemplars wait for the file, so that their stack can be looked up as soon as they are visible.
void SnapshotService::write(SampledSnapshot sampled) {
  const auto tell = [this, found = std::move(sampled.exemplars)] {
    loop_.post([this, found] { takers_.exemplars(found); });
  };
  serving_->writer.submit(std::move(sampled.snapshot), tell);
}

}  // namespace offcpud
