// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "base/wait_age.h"
#include "base/wait_for.h"
#include "histogram/latency_histogram.h"
#include "histogram/wait_estimate.h"
#include "holders/deadlocks.h"
#include "offcpud.h"
#include "pipeline/disk_load.h"
#include "pipeline/exemplar.h"
#include "pipeline/goroutine_book.h"
#include "pipeline/unusual_wait.h"

namespace offcpud {

// The most durations for which offcpud_stalled_threads counts.
inline constexpr std::size_t kMaxStallBounds = 8;

// The blocks of one cgroup and reason that are still in progress.
struct BlocksInProgress {
  std::uint32_t threads = 0;
  WaitAge oldest;                                        // 0 ns: none has a known beginning
  std::array<std::uint32_t, kMaxStallBounds> stalled{};  // by index of View::stall_bounds
};

// The waits in progress of one kind, blocked or runnable.
struct OpenWaits {
  std::uint64_t counted_ns = 0;  // ages of waits that a histogram counts when they end; modulo 2^64
  std::uint64_t oldest_counted_ns = 0;  // age of the longest of these
  std::uint32_t threads = 0;            // that wait
  std::uint32_t uncounted = 0;  // of `threads`: no histogram counts it, it began before the daemon
  std::uint32_t for_work = 0;   // of `threads`: kernel threads that wait for work
};

// How many stalled threads of a cgroup wait for something on one unit, address or device.
struct StallsOn {
  WaitFor wait_for = WaitFor::Unknown;
  std::string on;  // as PeerWaits::on; of a lock who holds it
  std::uint32_t threads = 0;

  friend bool operator==(const StallsOn&, const StallsOn&) = default;
};

// The told stalls of one cgroup that are in progress, by what they are for. Unknown: they were told
// by their reason, because nothing examined them.
struct StallsInProgress {
  std::array<std::uint32_t, kWaitForNames.size()> threads{};
  std::array<std::uint64_t, kWaitForNames.size()> oldest_ns{};
  // bits by WaitFor: a stall for this is in progress, or ended not long ago
  std::uint32_t shown = 0;
  // The sum over `on` is `threads`. By what for, then by `on`; none twice.
  std::vector<StallsOn> on;
};

struct KeptOff;
struct KeptOffStep;

// The states that the threads of one cgroup are in now.
struct WaitsInProgress {
  std::array<BlocksInProgress, OFFCPUD_BLOCKED_KINDS> blocked;
  std::array<OpenWaits, OFFCPUD_HIST_KINDS> open;
  // kinds (bits) that were in progress at some time since the cgroup got its row
  std::uint32_t shown = 0;
  std::uint64_t oldest_runnable_ns = 0;
  // since the last pass; nullopt: no thread, or no time passed
  std::optional<double> unaccounted_ratio;
};

struct WaitedOn;

// All series of one cgroup path. A histogram is null until the first episode, or until a long wait
// is in progress, when it begins at 0.
struct SubjectSeries {
  std::shared_ptr<const SubjectLabels> labels;  // never null; kept between passes
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, OFFCPUD_TAKERS> preemptions{};
  std::array<std::uint64_t, OFFCPUD_WAKERS> wakeups{};
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
  std::array<WallTime, OFFCPUD_HIST_KINDS> started{};  // before the histogram's first episode
  // The blocks by what they were for, estimated; null as `histograms`.
  std::array<std::shared_ptr<const EstimatedHistogram>, kWaitForNames.size()> waits;
  std::array<WallTime, kWaitForNames.size()> waits_started{};  // as `started`
  std::shared_ptr<const std::vector<WaitedOn>> waited_on;      // sorted, none twice; null: none
  std::shared_ptr<const GoroutineTimes> goroutines;            // null: they have not waited
  std::shared_ptr<const KindExemplars> exemplars;              // null: none
  std::shared_ptr<const WaitsInProgress> in_progress;          // null: not known yet
  std::shared_ptr<const StallsInProgress> stalls;              // null: none
  std::uint32_t deadlocked = 0;                                // threads in deadlocks
  std::shared_ptr<const KeptOff> kept_off;                     // null: nobody, or unknown
};

// A live process. Its numbers count since the daemon has known it, or where stated within the
// interval between the last two walks.
struct ProcessRow {
  std::uint32_t pid = 0;       // in the daemon's PID namespace
  std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME; identifies the process together with the pid
  std::string comm;            // of its first thread at present
  std::shared_ptr<const SubjectLabels> labels;  // of its first thread's cgroup
  std::uint32_t threads = 0;
  bool kernel_thread = false;
  bool exported = false;  // has series on /metrics
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
  WallTime started;                                // before the first episode of any of them
  std::shared_ptr<const KindExemplars> exemplars;  // null: none

  // By kind, time that its threads waited within the interval, whether the waits ended or not.
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> waited_ns{};
  std::uint64_t running_ns = 0;  // within the interval
  // part of waited_ns: run queue, and reasons that are not idle-prone
  std::uint64_t actionable_ns = 0;
  // Actionable waits that ended within the interval; 0: none. Percentiles are upper bounds of
  // slots.
  std::uint64_t ended = 0;
  double p50_seconds = 0, p99_seconds = 0, max_seconds = 0;
  // Longest block in progress by reason; 0 ns: none has a known beginning.
  std::array<WaitAge, OFFCPUD_BLOCKED_KINDS> oldest_blocked{};
};

struct PeerWindow;
struct ThreadWalk;
struct SiteWindow;
struct StallList;
struct WaitStep;
struct WaitWindow;

struct LossCount {
  std::string cause;  // value of the label `cause`
  std::uint64_t events = 0;
};

// The time that a kernel program's executions took since the start, estimated from the executions
// that timed themselves (bpf/cost.bpf.h).
struct ProgramCost {
  std::string program;  // value of the label `program`
  std::uint64_t runs = 0;
  std::uint64_t ns = 0;
};

struct MapUsage {
  std::string map;
  std::uint64_t entries = 0;
  std::uint64_t capacity = 0;
};

// The result of one pass, immutable once published. The pipeline's thread writes it; any number of
// HTTP threads read it through a shared_ptr. Counters never go down from one View to the next.
struct View {
  MonotonicTime taken;
  WallTime taken_wall;
  WallTime counting_since;                              // when counting began; the epoch: unknown
  std::vector<SubjectSeries> subjects;                  // sorted by cgroup; no path twice
  std::vector<std::chrono::milliseconds> stall_bounds;  // ascending; kMaxStallBounds at most
  bool tells_wakers = true;                 // whether this kernel says who wakes threads
  std::vector<ProcessRow> processes;        // the longest actionable wait first
  std::shared_ptr<const StallList> stalls;  // never null
  std::vector<UnusualWait> unusual;         // oldest first
  bool tells_unusual = false;               // whether they are looked for
  // The last minutes up to this View, oldest first; empty in the first View.
  std::vector<std::shared_ptr<const WaitStep>> history;
  // Who kept whom off the CPU by then, oldest first: see kept_off_within().
  std::vector<std::shared_ptr<const KeptOffStep>> kept_off_steps;
  // What threads waited for, by process: the last window that was examined, some seconds old. Null:
  // none was within the last minute, for example because nothing is sampled.
  std::shared_ptr<const WaitWindow> waits;
  // The deadlocks in the same window; null: there is none.
  std::shared_ptr<const std::vector<Deadlock>> deadlocks;
  // What threads waited for in the last minutes, by cgroup, oldest first; the last one is the
  // window of `waits`.
  std::vector<std::shared_ptr<const SiteWindow>> site_history;
  // Whom or what threads waited on in the last minutes, by cgroup, oldest first; see waited_on().
  // By process: WaitWindow::peers of `waits`.
  std::vector<std::shared_ptr<const PeerWindow>> peer_history;
  // What goroutines waited for in the last minutes, by process, oldest first.
  std::vector<std::shared_ptr<const GoroutineWindow>> goroutine_history;
  // The load of each disk by each cgroup since the start, sorted by disk and cgroup; null: not
  // counted.
  std::shared_ptr<const std::vector<DiskLoadRow>> disk_loads;
  bool times_disk_requests = false;  // whether they have DiskLoad::request_ns
  // The same in the last minutes, oldest first.
  std::vector<std::shared_ptr<const DiskLoadStep>> disk_load_steps;
  std::shared_ptr<const DisksOfDevices> disks;  // never null
  // The last two complete walks over threads; null until there are as many.
  std::shared_ptr<const ThreadWalk> walk, previous_walk;
  // How much more running time the programs counted than the scheduler (sum_exec_runtime), relative
  // to the scheduler's, over threads in both walks; nullopt: none of them ran.
  std::optional<double> running_deviation_ratio;
  std::vector<LossCount> losses;  // every cause, even at 0
  std::vector<ProgramCost> programs;
  std::uint64_t left_censored = 0;
  std::vector<MapUsage> maps;
  // selected ones for which max_series had no room, since the start
  std::uint64_t refused_processes = 0;
  std::uint64_t histogram_series = 0;  // histograms in `subjects`
  std::uint64_t lost_wait_ns = 0;  // blocks that are in no SubjectSeries::waits, since the start
  // Histograms that did not fit since the start; they are summed in "(other)".
  std::uint64_t folded_series = 0;
};

}  // namespace offcpud
