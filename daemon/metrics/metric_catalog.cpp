// SPDX-License-Identifier: Apache-2.0
#include "metrics/metric_catalog.h"

#include <algorithm>
#include <array>

namespace offcpud {
namespace {

using enum MetricType;

constexpr auto kCatalog = std::to_array<MetricDef>({
    {Metric::BlockedSeconds, "offcpud_blocked_seconds", Histogram,
     "cgroup slice unit container_id pod_uid reason",
     "Time that threads were blocked, from leaving the CPU to the wakeup, by reason."},
    {Metric::WaitSeconds, "offcpud_wait_seconds", Histogram,
     "cgroup slice unit container_id pod_uid for",
     "Time that threads were blocked, by what they waited for; estimated from sampled stacks."},
    {Metric::WaitVariance, "offcpud_wait_variance_seconds_squared_total", Counter,
     "cgroup slice unit container_id pod_uid for",
     "Variance of the sum of offcpud_wait_seconds; the square root of its increase is the standard "
     "error of that sum's increase."},
    {Metric::WaitedOnSeconds, "offcpud_waited_on_seconds_total", Counter,
     "cgroup slice unit container_id pod_uid for on",
     "Time that threads were blocked, by what they waited for and whom or what they waited on: a "
     "unit, remote:ADDRESS or device:NAME; estimated from sampled stacks."},
    {Metric::GoroutineWaitSeconds, "offcpud_goroutine_wait_seconds_total", Counter,
     "cgroup slice unit container_id pod_uid for",
     "Time that goroutines of Go programs waited, by what for; they are no threads, so it is not "
     "part of other metrics; estimated by looks."},
    {Metric::RunqueueWaitSeconds, "offcpud_runqueue_wait_seconds", Histogram,
     "cgroup slice unit container_id pod_uid cause",
     "Time that runnable threads waited for a CPU, by what put them in the queue."},
    {Metric::KeptOffSeconds, "offcpud_kept_off_seconds_total", Counter,
     "cgroup slice unit container_id pod_uid by_cgroup by_unit",
     "Time that runnable threads waited for a CPU, by who had it: the sum is that of "
     "offcpud_runqueue_wait_seconds."},
    {Metric::RunningSeconds, "offcpud_running_seconds_total", Counter,
     "cgroup slice unit container_id pod_uid", "Time that threads ran on a CPU."},
    {Metric::Preemptions, "offcpud_preemptions_total", Counter,
     "cgroup slice unit container_id pod_uid by",
     "Times that a thread lost its CPU although it could have run on, by who took it."},
    {Metric::Wakeups, "offcpud_wakeups_total", Counter,
     "cgroup slice unit container_id pod_uid from",
     "Times that a blocked thread was woken, by who woke it."},
    {Metric::BlockedThreads, "offcpud_blocked_threads", Gauge,
     "cgroup slice unit container_id pod_uid reason", "Threads that are blocked now, by reason."},
    {Metric::OldestBlocked, "offcpud_oldest_blocked_seconds", Gauge,
     "cgroup slice unit container_id pod_uid reason",
     "Age of the longest block that is still in progress, by reason."},
    {Metric::StalledThreads, "offcpud_stalled_threads", Gauge,
     "cgroup slice unit container_id pod_uid reason over",
     "Threads that have been blocked for longer than the label over says, by reason."},
    {Metric::StallsInProgress, "offcpud_stalls_in_progress", Gauge,
     "cgroup slice unit container_id pod_uid for",
     "Threads that are stalled now, by what they wait for; unknown: told by their reason alone."},
    {Metric::OldestStall, "offcpud_oldest_stall_seconds", Gauge,
     "cgroup slice unit container_id pod_uid for",
     "Age of the longest stall that is still in progress, by what it waits for."},
    {Metric::StallsWaitingOn, "offcpud_stalls_waiting_on", Gauge,
     "cgroup slice unit container_id pod_uid for on",
     "Threads that are stalled now, by what they wait for and whom or what they wait on: who holds "
     "the lock, or as of offcpud_waited_on_seconds_total."},
    {Metric::DeadlockedThreads, "offcpud_deadlocked_threads", Gauge,
     "cgroup slice unit container_id pod_uid",
     "Threads that wait for each other's locks in a circle, so that none of them can go on."},
    {Metric::OldestRunnable, "offcpud_oldest_runnable_seconds", Gauge,
     "cgroup slice unit container_id pod_uid",
     "Age of the longest wait for a CPU that is still in progress."},
    {Metric::UnaccountedRatio, "offcpud_unaccounted_ratio", Gauge,
     "cgroup slice unit container_id pod_uid",
     "Share of the threads' lifetime between the last two walks that is in no counter."},
    {Metric::ProcessBlockedSeconds, "offcpud_process_blocked_seconds", Histogram,
     "pid comm cgroup reason",
     "Time that the threads of an exported process were blocked, by reason."},
    {Metric::ProcessRunqueueWaitSeconds, "offcpud_process_runqueue_wait_seconds", Histogram,
     "pid comm cgroup cause",
     "Time that runnable threads of an exported process waited for a CPU, by cause."},
    {Metric::ProcessOldestBlocked, "offcpud_process_oldest_blocked_seconds", Gauge,
     "pid comm cgroup reason",
     "Age of the longest block of an exported process that is still in progress, by reason."},
    {Metric::DiskBytes, "offcpud_disk_bytes_total", Counter,
     "cgroup slice unit container_id pod_uid device operation",
     "Bytes that a cgroup read from a disk, wrote to it or discarded."},
    {Metric::DiskRequests, "offcpud_disk_requests_total", Counter,
     "cgroup slice unit container_id pod_uid device operation",
     "Requests of a cgroup that a disk has done, by operation."},
    {Metric::DiskRequestSeconds, "offcpud_disk_request_seconds_total", Counter,
     "cgroup slice unit container_id pod_uid device",
     "Time that requests of a cgroup to a disk took, from their beginning to their end; its rate "
     "is "
     "their number at a time. Absent where io.stat tells who loads a disk."},
    {Metric::LostEvents, "offcpud_lost_events_total", Counter, "cause",
     "Events that could not be recorded as they should have been, by cause."},
    {Metric::WaitLostSeconds, "offcpud_wait_lost_seconds_total", Counter, "",
     "Blocked time that is missing in offcpud_wait_seconds, as its samples found no room."},
    {Metric::UnusualWaits, "offcpud_unusual_waits", Gauge, "",
     "Threads that wait now, far longer than is usual at their place, for what nobody can tell, "
     "while their unit has work to do; at most 100. They are no stalls."},
    {Metric::ThreadsLeftCensored, "offcpud_threads_left_censored_total", Counter, "",
     "Threads already off the CPU at attach, whose first episode has no known beginning."},
    {Metric::RunningDeviationRatio, "offcpud_running_deviation_ratio", Gauge, "",
     "Running time counted between the last two walks beyond that of the scheduler, as a share of "
     "the scheduler's."},
    {Metric::ThreadWalkPasses, "offcpud_thread_walk_passes", Gauge, "",
     "Number of passes that the last walk over the threads took; 1 when it fits its budget."},
    {Metric::MapEntries, "offcpud_map_entries", Gauge, "map", "Entries in use in a kernel map."},
    {Metric::MapCapacity, "offcpud_map_capacity", Gauge, "map",
     "Entries that a kernel map has room for."},
    {Metric::Series, "offcpud_series", Gauge, "", "Histogram series exported now."},
    {Metric::SeriesFolded, "offcpud_series_folded_total", Counter, "",
     "Histogram series beyond max_series, summed under cgroup (other) instead."},
    {Metric::ProcessesRefused, "offcpud_processes_refused_total", Counter, "",
     "Processes selected for series of their own that did not fit into max_series."},
    {Metric::FamilySeries, "offcpud_family_series", Gauge, "family",
     "Series exported now by each metric that has series for every cgroup or process."},
    {Metric::ScrapesNotCompressed, "offcpud_scrapes_not_compressed_total", Counter, "cause",
     "Scrapes that were sent uncompressed although the client asked for compression, by cause: "
     "compressed answers that were not read to their end had taken all places (all), or those of "
     "the client's address or user (peer)."},
    {Metric::PassDuration, "offcpud_pass_duration_seconds", Histogram, "stage",
     "Time that one pass over the kernel maps took, by stage."},
    {Metric::PassFailures, "offcpud_pass_failures_total", Counter, "stage",
     "Passes over the kernel maps that failed, by stage."},
    {Metric::LastPassTimestamp, "offcpud_last_pass_timestamp_seconds", Gauge, "",
     "Unix time of the last completed pass, whose numbers this page shows."},
    {Metric::ThreadBusy, "offcpud_thread_busy_seconds", Gauge, "thread",
     "How long a thread of the daemon has been busy with one piece of work; 0 while it is idle."},
    {Metric::ThreadStuck, "offcpud_thread_stuck", Gauge, "thread",
     "1 while a thread of the daemon is stuck: one piece of work takes longer than it ever "
     "should."},
    {Metric::Stalls, "offcpud_stalls_total", Counter, "reason",
     "Blocks that outlasted their threshold and were told as stalls, by reason; counted when they "
     "are first told. offcpud_stalls_taken_back_total has those that turned out to be none."},
    {Metric::StallsTakenBack, "offcpud_stalls_taken_back_total", Counter, "reason",
     "Stalls that turned out to be idle when their stacks were examined; "
     "offcpud_stalls_total still has them."},
    {Metric::StallsBeyondLimit, "offcpud_stalls_beyond_limit", Gauge, "",
     "Stalls in progress that are not shown, because as many as can be are; each is counted "
     "and told of when it ends."},
    {Metric::StackSamples, "offcpud_stack_samples_total", Counter, "",
     "Blocks whose stacks were taken."},
    {Metric::StackSamplesIncomplete, "offcpud_stack_samples_incomplete_total", Counter, "end",
     "Stacks that were not walked to their root, by what ended the walk."},
    {Metric::StacksLocatedEarly, "offcpud_stacks_located_early_total", Counter, "",
     "Distinct stacks that lack names of functions because a snapshot or profile ended before the "
     "daemon knew all mappings of their processes."},
    {Metric::ObjectsRefused, "offcpud_objects_refused_total", Counter, "cause",
     "Programs, libraries and perf maps of which a part exceeded a limit and was left out, by that "
     "part."},
    {Metric::ProcessesOverShare, "offcpud_processes_over_share", Gauge, "",
     "Processes with so many executable mappings that not all are kept; their stacks may be "
     "incomplete."},
    {Metric::MappingsLeftOut, "offcpud_mappings_left_out_total", Counter, "",
     "Executable mappings that were not kept because their process had more than its share."},
    {Metric::StackSourcesLeftOut, "offcpud_stack_sources_left_out_total", Counter, "what",
     "Sources of stacks and of their names that were left out for lack of room or time, or "
     "because they could not be read, by what they are."},
    {Metric::SamplingInterval, "offcpud_sampling_interval_seconds", Gauge, "",
     "The longest sampling interval: blocks of at least this length are all sampled, shorter ones "
     "with a probability proportional to their length."},
    {Metric::ReaderHangs, "offcpud_reader_hangs_total", Counter, "what",
     "Times that a process or its file system did not answer in time, by what was to be read."},
    {Metric::ReaderRefused, "offcpud_reader_refused_total", Counter, "cause",
     "Reads from processes that were not tried, as earlier ones like them got no answer, or as a "
     "copy of a file had no room or was too large, by cause."},
    {Metric::ReadersStuck, "offcpud_readers_stuck", Gauge, "",
     "Reader processes that were killed but that the kernel has not ended yet, including those of "
     "an earlier run."},
    {Metric::ReaderCpuSeconds, "offcpud_reader_cpu_seconds_total", Counter, "",
     "CPU time of the daemon's processes that read other processes' files and memory."},
    {Metric::GoPrograms, "offcpud_go_programs", Gauge, "",
     "Go programs whose goroutines are looked at."},
    {Metric::GoroutineLooks, "offcpud_goroutine_looks_total", Counter, "",
     "Looks at the goroutines of a Go program."},
    {Metric::GoroutineLooksSkipped, "offcpud_goroutine_looks_skipped_total", Counter, "",
     "Looks that were due, but for which goroutines.cpu_budget had no CPU time; the next look "
     "stands for them."},
    {Metric::GoroutinesLookedAt, "offcpud_goroutines_looked_at_total", Counter, "",
     "Goroutines that were looked at, waiting or not."},
    {Metric::GoroutinesLeftOut, "offcpud_goroutines_left_out_total", Counter, "",
     "Goroutines that a look left out, for lack of time or beyond 4,096; those that it looked at "
     "stand for them."},
    {Metric::GoroutineFailures, "offcpud_goroutine_failures_total", Counter, "cause",
     "Attempts to look at the goroutines of a Go program that failed, by cause."},
    {Metric::GoroutineCpuSeconds, "offcpud_goroutine_cpu_seconds_total", Counter, "",
     "CPU time of the daemon and its reader for looking at goroutines."},
    {Metric::SnapshotsWritten, "offcpud_snapshots_written_total", Counter, "",
     "Snapshots of stacks that were written."},
    {Metric::SnapshotFailures, "offcpud_snapshot_failures_total", Counter, "cause",
     "Snapshots that could not be written, kept or read, by cause."},
    {Metric::SnapshotBytes, "offcpud_snapshot_bytes", Gauge, "",
     "Size of all snapshots that are kept."},
    {Metric::LastSnapshotTimestamp, "offcpud_last_snapshot_timestamp_seconds", Gauge, "",
     "Unix time at which the last snapshot was written."},
    {Metric::PushSnapshots, "offcpud_push_snapshots_total", Counter, "result",
     "Snapshots to be sent to push.url, by result."},
    {Metric::PushFailures, "offcpud_push_failures_total", Counter, "cause",
     "Failed attempts to push a snapshot, by cause; all but refused are tried again."},
    {Metric::PushQueueBytes, "offcpud_push_queue_bytes", Gauge, "",
     "Size of the snapshots that wait to be pushed."},
    {Metric::PushLastSuccessTimestamp, "offcpud_push_last_success_timestamp_seconds", Gauge, "",
     "Unix time at which the last snapshot was pushed."},
    {Metric::BuildInfo, "offcpud_build_info", Gauge, "version revision kernel",
     "Always 1: which build runs on which kernel."},
    {Metric::FeatureEnabled, "offcpud_feature_enabled", Gauge, "feature",
     "1 for a feature that this kernel allowed, 0 for one that it did not."},
    {Metric::BpfRunSeconds, "offcpud_bpf_run_seconds_total", Counter, "program",
     "Time that the kernel programs took, estimated: one execution in 1024 is timed."},
    {Metric::BpfRuns, "offcpud_bpf_runs_total", Counter, "program",
     "Executions of the kernel programs, estimated in the same way."},
    {Metric::OverheadRatio, "offcpud_overhead_ratio", Gauge, "",
     "Share of the CPU time of all CPUs that the kernel programs and the daemon took in the last "
     "minute or, if that is shorter, since the first pass."},
    {Metric::ConfigLastReloadSuccessful, "offcpud_config_last_reload_successful", Gauge, "",
     "1 when the last attempt to load the configuration succeeded, 0 when it failed."},
    {Metric::ConfigLastReloadSuccessTimestamp,
     "offcpud_config_last_reload_success_timestamp_seconds", Gauge, "",
     "Unix time at which the configuration in force was loaded."},
    {Metric::WebCertificateExpiry, "offcpud_web_certificate_expiry_timestamp_seconds", Gauge, "",
     "Unix time until which the certificate of the HTTP server is valid; absent without TLS."},
    {Metric::ProcessCpuSeconds, "process_cpu_seconds_total", Counter, "",
     "User and system CPU time of the daemon."},
    {Metric::ProcessOpenFds, "process_open_fds", Gauge, "", "File descriptors that are open."},
    {Metric::ProcessMaxFds, "process_max_fds", Gauge, "",
     "File descriptors that may be open at once."},
    {Metric::ProcessVirtualMemory, "process_virtual_memory_bytes", Gauge, "",
     "Virtual memory of the daemon."},
    {Metric::ProcessResidentMemory, "process_resident_memory_bytes", Gauge, "",
     "Resident memory of the daemon."},
    {Metric::ProcessStartTime, "process_start_time_seconds", Gauge, "",
     "Unix time at which the daemon started."},
});

constexpr bool is_indexed_by_metric() {
  for (std::size_t i = 0; i < kCatalog.size(); ++i) {
    if (kCatalog[i].id != static_cast<Metric>(i)) return false;
  }
  return kCatalog.back().id == Metric::ProcessStartTime;
}
static_assert(is_indexed_by_metric());

// Help texts are written without escaping.
static_assert(std::all_of(kCatalog.begin(), kCatalog.end(), [](const MetricDef& def) {
  return def.help.find_first_of("\\\n\"") == std::string_view::npos && def.help.ends_with('.');
}));
static_assert(std::all_of(kCatalog.begin(), kCatalog.end(), [](const MetricDef& def) {
  return def.name.ends_with("_total") == (def.type == Counter);
}));

}  // namespace

std::span<const MetricDef> metric_catalog() {
  return kCatalog;
}

const MetricDef& metric_def(Metric metric) {
  return kCatalog[static_cast<std::size_t>(metric)];
}

std::string_view metric_type_name(MetricType type) {
  switch (type) {
    case Counter:
      return "counter";
    case Gauge:
      return "gauge";
    case Histogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace offcpud
