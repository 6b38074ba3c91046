// SPDX-License-Identifier: Apache-2.0
#include "metrics/self_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "base/hist_kind.h"
#include "metrics/metric_catalog.h"
#include "metrics/process_usage.h"
#include "metrics/registry_writer.h"
#include "unwind.h"

namespace offcpud {
namespace {

// 100 us .. 10 s: a pass takes milliseconds; above min_pass_interval it delays scrapes.
const prometheus::Histogram::BucketBoundaries kPassBounds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

template <class T>
prometheus::Family<T>& add_family(prometheus::Registry& registry,
                                  prometheus::detail::Builder<T> builder, Metric metric) {
  const MetricDef& def = metric_def(metric);
  return builder.Name(std::string(def.name)).Help(std::string(def.help)).Register(registry);
}

prometheus::Family<prometheus::Gauge>& add_gauge(prometheus::Registry& registry, Metric metric) {
  return add_family(registry, prometheus::BuildGauge(), metric);
}

prometheus::Counter& stalls_of(prometheus::Family<prometheus::Counter>& stalls, std::size_t kind) {
  return stalls.Add({{"reason", std::string(kHistKindNames[kind])}});
}

// Values of the label `end`, by enum offcpud_unwind_end.
constexpr std::array<const char*, OFFCPUD_UNWIND_ENDS> kEndNames = {
    "root",       "frame_pointer", "no_mapping", "no_rule", "invalid_rule",
    "unreadable", "depth",         "compat",     "no_user"};

std::string end_name(std::uint32_t end) {
  return kEndNames.at(std::min<std::size_t>(end, OFFCPUD_UNWIND_ENDS - 1));
}

bool is_complete(std::uint32_t end) {
  return end == OFFCPUD_UNWIND_END_ROOT || end == OFFCPUD_UNWIND_END_NO_USER;
}

double unix_seconds(WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

prometheus::MetricFamily single_value(Metric metric, double value) {
  const MetricDef& def = metric_def(metric);
  prometheus::MetricFamily family;
  family.name = def.name;
  family.help = def.help;
  prometheus::ClientMetric sample;
  if (def.type == MetricType::Counter) {
    family.type = prometheus::MetricType::Counter;
    sample.counter.value = value;
  } else {
    family.type = prometheus::MetricType::Gauge;
    sample.gauge.value = value;
  }
  family.metric.push_back(std::move(sample));
  return family;
}

prometheus::MetricFamily gauge_by_thread(Metric metric, const std::vector<ThreadState>& threads,
                                         double (*value)(const ThreadState& state)) {
  prometheus::MetricFamily family = single_value(metric, 0);
  family.metric.clear();
  for (const ThreadState& state : threads) {
    prometheus::ClientMetric sample;
    sample.label = {{"thread", state.name}};
    sample.gauge.value = value(state);
    family.metric.push_back(std::move(sample));
  }
  return family;
}

void append_threads(std::vector<prometheus::MetricFamily>& out,
                    const std::vector<ThreadState>& threads) {
  if (threads.empty()) return;
  out.push_back(gauge_by_thread(Metric::ThreadBusy, threads, [](const ThreadState& state) {
    return std::chrono::duration<double>(state.busy.value_or(std::chrono::nanoseconds(0))).count();
  }));
  out.push_back(gauge_by_thread(Metric::ThreadStuck, threads,
                                [](const ThreadState& state) { return state.stuck ? 1.0 : 0.0; }));
}

// Sets a counter to a total that is counted elsewhere. One thread sets each total.
void raise_to(prometheus::Counter& counter, double total) {
  counter.Increment(std::max(0.0, total - counter.Value()));
}

void append_process(std::vector<prometheus::MetricFamily>& out, const ProcessUsage& usage) {
  const auto append = [&out](Metric metric, auto value) {
    out.push_back(single_value(metric, static_cast<double>(value)));
  };
  append(Metric::ProcessCpuSeconds, usage.cpu_seconds);
  if (usage.open_fds) append(Metric::ProcessOpenFds, *usage.open_fds);
  append(Metric::ProcessMaxFds, usage.max_fds);
  append(Metric::ProcessVirtualMemory, usage.virtual_bytes);
  append(Metric::ProcessResidentMemory, usage.resident_bytes);
  append(Metric::ProcessStartTime, usage.start_time_seconds);
}

}  // namespace

struct SelfMetrics::Families {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Histogram>& pass_duration =
      add_family(registry, prometheus::BuildHistogram(), Metric::PassDuration);
  prometheus::Family<prometheus::Counter>& pass_failures =
      add_family(registry, prometheus::BuildCounter(), Metric::PassFailures);
  prometheus::Family<prometheus::Counter>& stalls =
      add_family(registry, prometheus::BuildCounter(), Metric::Stalls);
  prometheus::Family<prometheus::Counter>& stalls_taken_back =
      add_family(registry, prometheus::BuildCounter(), Metric::StallsTakenBack);
  prometheus::Gauge& stalls_beyond_limit = add_gauge(registry, Metric::StallsBeyondLimit).Add({});
  prometheus::Family<prometheus::Counter>& scrapes_not_compressed =
      add_family(registry, prometheus::BuildCounter(), Metric::ScrapesNotCompressed);
  prometheus::Counter& stack_samples =
      add_family(registry, prometheus::BuildCounter(), Metric::StackSamples).Add({});
  prometheus::Family<prometheus::Counter>& incomplete_samples =
      add_family(registry, prometheus::BuildCounter(), Metric::StackSamplesIncomplete);
  prometheus::Counter& located_early =
      add_family(registry, prometheus::BuildCounter(), Metric::StacksLocatedEarly).Add({});
  prometheus::Family<prometheus::Counter>& refused_objects =
      add_family(registry, prometheus::BuildCounter(), Metric::ObjectsRefused);
  prometheus::Gauge& over_share = add_gauge(registry, Metric::ProcessesOverShare).Add({});
  prometheus::Counter& mappings_left_out =
      add_family(registry, prometheus::BuildCounter(), Metric::MappingsLeftOut).Add({});
  prometheus::Family<prometheus::Counter>& stack_losses =
      add_family(registry, prometheus::BuildCounter(), Metric::StackSourcesLeftOut);
  prometheus::Gauge& sampling_interval = add_gauge(registry, Metric::SamplingInterval).Add({});
  prometheus::Family<prometheus::Counter>& reader_hangs =
      add_family(registry, prometheus::BuildCounter(), Metric::ReaderHangs);
  prometheus::Family<prometheus::Counter>& reader_refused =
      add_family(registry, prometheus::BuildCounter(), Metric::ReaderRefused);
  prometheus::Gauge& readers_stuck = add_gauge(registry, Metric::ReadersStuck).Add({});
  prometheus::Counter& reader_cpu =
      add_family(registry, prometheus::BuildCounter(), Metric::ReaderCpuSeconds).Add({});
  prometheus::Gauge& go_programs = add_gauge(registry, Metric::GoPrograms).Add({});
  prometheus::Counter& goroutine_looks =
      add_family(registry, prometheus::BuildCounter(), Metric::GoroutineLooks).Add({});
  prometheus::Counter& goroutine_looks_skipped =
      add_family(registry, prometheus::BuildCounter(), Metric::GoroutineLooksSkipped).Add({});
  prometheus::Counter& goroutines_looked_at =
      add_family(registry, prometheus::BuildCounter(), Metric::GoroutinesLookedAt).Add({});
  prometheus::Counter& goroutines_left_out =
      add_family(registry, prometheus::BuildCounter(), Metric::GoroutinesLeftOut).Add({});
  prometheus::Family<prometheus::Counter>& goroutine_failures =
      add_family(registry, prometheus::BuildCounter(), Metric::GoroutineFailures);
  prometheus::Counter& goroutine_cpu =
      add_family(registry, prometheus::BuildCounter(), Metric::GoroutineCpuSeconds).Add({});
  std::atomic<std::uint64_t> hangs{0};
  std::atomic<std::uint64_t> refused{0};
  prometheus::Counter& snapshots_written =
      add_family(registry, prometheus::BuildCounter(), Metric::SnapshotsWritten).Add({});
  prometheus::Family<prometheus::Counter>& snapshot_failures =
      add_family(registry, prometheus::BuildCounter(), Metric::SnapshotFailures);
  prometheus::Gauge& snapshot_bytes = add_gauge(registry, Metric::SnapshotBytes).Add({});
  prometheus::Family<prometheus::Gauge>& last_snapshot =
      add_gauge(registry, Metric::LastSnapshotTimestamp);
  prometheus::Family<prometheus::Counter>& pushes =
      add_family(registry, prometheus::BuildCounter(), Metric::PushSnapshots);
  prometheus::Family<prometheus::Counter>& push_failures =
      add_family(registry, prometheus::BuildCounter(), Metric::PushFailures);
  prometheus::Gauge& push_queue = add_gauge(registry, Metric::PushQueueBytes).Add({});
  prometheus::Family<prometheus::Gauge>& last_push =
      add_gauge(registry, Metric::PushLastSuccessTimestamp);
  prometheus::Family<prometheus::Gauge>& build_info = add_gauge(registry, Metric::BuildInfo);
  prometheus::Family<prometheus::Gauge>& features = add_gauge(registry, Metric::FeatureEnabled);
  prometheus::Family<prometheus::Counter>& bpf_seconds =
      add_family(registry, prometheus::BuildCounter(), Metric::BpfRunSeconds);
  prometheus::Family<prometheus::Counter>& bpf_runs =
      add_family(registry, prometheus::BuildCounter(), Metric::BpfRuns);
  prometheus::Family<prometheus::Gauge>& overhead = add_gauge(registry, Metric::OverheadRatio);
  prometheus::Family<prometheus::Gauge>& certificate_expiry =
      add_gauge(registry, Metric::WebCertificateExpiry);
  prometheus::Gauge& reload_successful =
      add_gauge(registry, Metric::ConfigLastReloadSuccessful).Add({});
  prometheus::Gauge& reload_time =
      add_gauge(registry, Metric::ConfigLastReloadSuccessTimestamp).Add({});
};

SelfMetrics::SelfMetrics(const BuildInfo& build, const ThreadWatch* threads,
                         std::filesystem::path proc)
    : threads_(threads), proc_(std::move(proc)), families_(std::make_unique<Families>()) {
  families_->build_info
      .Add({{"version", build.version}, {"revision", build.revision}, {"kernel", build.kernel}})
      .Set(1);
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    if (is_idle_prone(kind)) continue;
    stalls_of(families_->stalls, kind);
    stalls_of(families_->stalls_taken_back, kind);
  }
  for (std::uint32_t end = 0; end < OFFCPUD_UNWIND_ENDS; ++end) {
    if (!is_complete(end)) families_->incomplete_samples.Add({{"end", end_name(end)}});
  }
  set_stack_losses({});
  set_goroutine_totals({});
  for (const std::string_view cause : kGzipRefusalNames) {
    families_->scrapes_not_compressed.Add({{"cause", std::string(cause)}});
  }
  for (const std::string_view cause : kObjectRefusalNames) {
    families_->refused_objects.Add({{"cause", std::string(cause)}});
  }
  for (const std::string_view cause : kSnapshotFailureNames) {
    families_->snapshot_failures.Add({{"cause", std::string(cause)}});
  }
  for (const std::string_view result : kPushResultNames) {
    families_->pushes.Add({{"result", std::string(result)}});
  }
  for (const std::string_view cause : kPushFailureNames) {
    families_->push_failures.Add({{"cause", std::string(cause)}});
  }
}

SelfMetrics::~SelfMetrics() = default;

void SelfMetrics::set_goroutine_totals(const GoroutineTotals& totals) {
  const auto number = [](std::uint64_t total) { return static_cast<double>(total); };
  families_->go_programs.Set(number(totals.programs));
  raise_to(families_->goroutine_looks, number(totals.looks));
  raise_to(families_->goroutine_looks_skipped, number(totals.skipped_looks));
  raise_to(families_->goroutines_looked_at, number(totals.goroutines));
  raise_to(families_->goroutines_left_out, number(totals.left_out));
  raise_to(families_->goroutine_cpu, in_seconds(totals.cpu));
  for (std::size_t cause = 0; cause < totals.failures.size(); ++cause) {
    raise_to(
        families_->goroutine_failures.Add({{"cause", std::string(kGoroutineFailureNames[cause])}}),
        number(totals.failures[cause]));
  }
}

void SelfMetrics::set_feature(const std::string& feature, bool enabled) {
  families_->features.Add({{"feature", feature}}).Set(enabled ? 1 : 0);
}

void SelfMetrics::set_config_reload(bool successful, WallTime at) {
  families_->reload_successful.Set(successful ? 1 : 0);
  if (successful) families_->reload_time.Set(unix_seconds(at));
}

void SelfMetrics::set_certificate_expiry(WallTime at) {
  families_->certificate_expiry.Add({}).Set(unix_seconds(at));
}

void SelfMetrics::add_stage(const std::string& stage) {
  families_->pass_duration.Add({{"stage", stage}}, kPassBounds);
  families_->pass_failures.Add({{"stage", stage}});
}

void SelfMetrics::observe_pass(const std::string& stage, std::chrono::nanoseconds duration) {
  families_->pass_duration.Add({{"stage", stage}}, kPassBounds)
      .Observe(std::chrono::duration<double>(duration).count());
}

void SelfMetrics::count_pass_failure(const std::string& stage) {
  families_->pass_failures.Add({{"stage", stage}}).Increment();
}

void SelfMetrics::count_stall(std::size_t kind) {
  stalls_of(families_->stalls, kind).Increment();
}

void SelfMetrics::count_stall_taken_back(std::size_t kind) {
  stalls_of(families_->stalls_taken_back, kind).Increment();
}

void SelfMetrics::set_stalls_beyond_limit(std::uint64_t stalls) {
  families_->stalls_beyond_limit.Set(static_cast<double>(stalls));
}

void SelfMetrics::count_scrape_not_compressed(GzipRefusal cause) {
  families_->scrapes_not_compressed.Add({{"cause", std::string(name_of(cause))}}).Increment();
}

void SelfMetrics::count_stack_sample(std::uint32_t user_end) {
  families_->stack_samples.Increment();
  if (is_complete(user_end)) return;
  families_->incomplete_samples.Add({{"end", end_name(user_end)}}).Increment();
}

void SelfMetrics::count_stack_located_early() {
  families_->located_early.Increment();
}

void SelfMetrics::set_over_share(std::size_t processes, std::uint64_t mappings_left_out) {
  families_->over_share.Set(static_cast<double>(processes));
  raise_to(families_->mappings_left_out, static_cast<double>(mappings_left_out));
}

void SelfMetrics::set_stack_losses(const StackLosses& losses) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    raise_to(families_->stack_losses.Add({{"what", std::string(kStackLossNames[i])}}),
             static_cast<double>(losses[i]));
  }
}

void SelfMetrics::set_sampling_interval(std::chrono::nanoseconds interval) {
  families_->sampling_interval.Set(std::chrono::duration<double>(interval).count());
}

void SelfMetrics::add_reader_series(std::span<const char* const> what,
                                    std::span<const char* const> causes) {
  for (const char* one : what) families_->reader_hangs.Add({{"what", one}});
  for (const char* one : causes) families_->reader_refused.Add({{"cause", one}});
}

void SelfMetrics::count_reader_hang(const std::string& what) {
  families_->reader_hangs.Add({{"what", what}}).Increment();
  ++families_->hangs;
}

void SelfMetrics::count_reader_refusal(const std::string& cause) {
  families_->reader_refused.Add({{"cause", cause}}).Increment();
  ++families_->refused;
}

void SelfMetrics::set_readers_stuck(unsigned readers) {
  families_->readers_stuck.Set(readers);
}

void SelfMetrics::add_reader_cpu(std::chrono::nanoseconds cpu) {
  families_->reader_cpu.Increment(std::chrono::duration<double>(cpu).count());
}

SelfMetrics::ReaderCounts SelfMetrics::reader_counts() const {
  const std::chrono::duration<double> cpu(families_->reader_cpu.Value());
  return {.hangs = families_->hangs,
          .refused = families_->refused,
          .stuck = static_cast<std::uint64_t>(families_->readers_stuck.Value()),
          .cpu = std::chrono::duration_cast<std::chrono::nanoseconds>(cpu)};
}

void SelfMetrics::count_snapshot_written(WallTime at) {
  families_->snapshots_written.Increment();
  families_->last_snapshot.Add({}).Set(unix_seconds(at));
}

void SelfMetrics::count_refused_objects(const ObjectRefusals& causes) {
  causes.for_each([this](ObjectRefusal cause) {
    families_->refused_objects.Add({{"cause", std::string(name_of(cause))}}).Increment();
  });
}

void SelfMetrics::count_snapshot_failure(SnapshotFailure cause) {
  families_->snapshot_failures.Add({{"cause", std::string(name_of(cause))}}).Increment();
}

void SelfMetrics::set_snapshot_bytes(std::uint64_t bytes) {
  families_->snapshot_bytes.Set(static_cast<double>(bytes));
}

void SelfMetrics::count_push(PushResult result, WallTime at) {
  families_->pushes.Add({{"result", std::string(name_of(result))}}).Increment();
  if (result == PushResult::Sent) families_->last_push.Add({}).Set(unix_seconds(at));
}

void SelfMetrics::count_push_failure(PushFailure cause) {
  families_->push_failures.Add({{"cause", std::string(name_of(cause))}}).Increment();
}

void SelfMetrics::set_push_queue_bytes(std::uint64_t bytes) {
  families_->push_queue.Set(static_cast<double>(bytes));
}

void SelfMetrics::set_program_costs(std::span<const ProgramCost> programs) {
  for (const ProgramCost& cost : programs) {
    const prometheus::Labels labels = {{"program", cost.program}};
    raise_to(families_->bpf_seconds.Add(labels), static_cast<double>(cost.ns) * 1e-9);
    raise_to(families_->bpf_runs.Add(labels), static_cast<double>(cost.runs));
  }
}

void SelfMetrics::set_overhead(double ratio) {
  families_->overhead.Add({}).Set(ratio);
}

void SelfMetrics::write(SeriesWriter& out) const {
  std::vector<prometheus::MetricFamily> families = families_->registry.Collect();
  if (threads_ != nullptr) append_threads(families, threads_->states());
  if (const auto usage = read_process_usage(proc_)) append_process(families, *usage);
  write_families(out, std::move(families));
}

}  // namespace offcpud
