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
#include "histogram/latency_histogram.h"
#include "offcpud.h"
#include "pipeline/exemplar.h"

namespace offcpud {

// Durations over which offcpud_stalled_threads counts.
inline constexpr std::size_t kMaxStallBounds = 8;

// The blocks of one cgroup and reason that are still in progress.
struct BlocksInProgress {
  std::uint32_t threads = 0;
  std::uint64_t oldest_ns = 0;                           // 0: none whose beginning is known
  std::array<std::uint32_t, kMaxStallBounds> stalled{};  // by View::stall_bounds
};

// The waits of one kind, blocked or for a CPU, that are in progress.
struct OpenWaits {
  std::uint64_t counted_ns = 0;  // ages of those that enter a histogram when they end; modulo 2^64
  std::uint32_t threads = 0;
  std::uint32_t uncounted = 0;  // of these, in a wait that enters none: it began before the daemon
  std::uint32_t for_work = 0;   // of these, kernel threads without work
};

// What the threads of one cgroup are in at the moment.
struct WaitsInProgress {
  std::array<BlocksInProgress, OFFCPUD_BLOCKED_KINDS> blocked;
  std::array<OpenWaits, OFFCPUD_HIST_KINDS> open;
  std::uint32_t shown = 0;  // kinds (bits) that have been in progress since the cgroup is shown
  std::uint64_t oldest_runnable_ns = 0;
  std::optional<double> unaccounted_ratio;  // since the last pass; nullopt: no thread, or no time
};

// All series of one cgroup path. Histograms are null until the first episode.
struct SubjectSeries {
  std::shared_ptr<const SubjectLabels> labels;  // never null; kept between passes
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, OFFCPUD_TAKERS> preemptions{};
  std::array<std::uint64_t, OFFCPUD_WAKERS> wakeups{};
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
  std::array<WallTime, OFFCPUD_HIST_KINDS> started{};  // before the first episode of the histogram
  std::shared_ptr<const KindExemplars> exemplars;      // null: none
  std::shared_ptr<const WaitsInProgress> in_progress;  // null: not known yet
};

// A process that lives. Its numbers are since the daemon knows it, or of the interval between the
// last two walks where that is said.
struct ProcessRow {
  std::uint32_t pid = 0;                        // in the daemon's PID namespace
  std::uint64_t start_ns = 0;                   // CLOCK_BOOTTIME; with the pid the identity
  std::string comm;                             // of its first thread, now
  std::shared_ptr<const SubjectLabels> labels;  // of the cgroup that its first thread is in
  std::uint32_t threads = 0;
  bool kernel_thread = false;
  bool exported = false;  // has series on /metrics
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
  WallTime started;                                // before the first episode of all of them
  std::shared_ptr<const KindExemplars> exemplars;  // null: none

  // Time that its threads spent waiting within the interval, finished or not, by kind.
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> waited_ns{};
  std::uint64_t running_ns = 0;     // within the interval
  std::uint64_t actionable_ns = 0;  // of waited_ns: run queue, and reasons that are not idle-prone
  // Actionable waits that ended within the interval; 0: none. Upper bounds of their slots.
  std::uint64_t ended = 0;
  double p50_seconds = 0, p99_seconds = 0, max_seconds = 0;
  // Longest block in progress by reason; 0: none whose beginning is known.
  std::array<std::uint64_t, OFFCPUD_BLOCKED_KINDS> oldest_blocked_ns{};
};

struct ThreadWalk;
struct StallList;
struct WaitStep;

struct LossCount {
  std::string cause;  // value of the label `cause`
  std::uint64_t events = 0;
};

// What the executions of a kernel program took since the start, estimated from those that timed
// themselves (bpf/cost.bpf.h).
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

// What one pass found, immutable once published: written by the pipeline's thread, read by any
// number of HTTP threads through a shared_ptr. Counters never go down from one View to the next.
struct View {
  MonotonicTime taken;
  WallTime taken_wall;
  std::vector<SubjectSeries> subjects;                  // sorted by cgroup; no path twice
  std::vector<std::chrono::milliseconds> stall_bounds;  // rising; kMaxStallBounds at most
  bool tells_wakers = true;                 // whether `wakeups` mean anything on this kernel
  std::vector<ProcessRow> processes;        // by actionable wait, the longest first
  std::shared_ptr<const StallList> stalls;  // never null
  // The last minutes up to this View, the oldest first; empty in the first one.
  std::vector<std::shared_ptr<const WaitStep>> history;
  // The threads behind all this; null before the first complete walk, and before the second.
  std::shared_ptr<const ThreadWalk> walk, previous_walk;
  // Running time of the threads in both walks as the programs counted it, beyond what the
  // scheduler counted (sum_exec_runtime), as a share of that; nullopt: none ran.
  std::optional<double> running_deviation_ratio;
  std::vector<LossCount> losses;  // every cause, also those at 0
  std::vector<ProgramCost> programs;
  std::uint64_t left_censored = 0;
  std::vector<MapUsage> maps;
  std::uint64_t refused_processes = 0;  // selected, but max_series had no room, since the start
  std::uint64_t histogram_series = 0;   // histograms in `subjects`
  std::uint64_t folded_series =
      0;  // histograms that did not fit since the start, summed in "(other)"
};

}  // namespace offcpud
