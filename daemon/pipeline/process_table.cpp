// SPDX-License-Identifier: Apache-2.0
#include "pipeline/process_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hist_kind.h"
#include "base/text.h"

namespace offcpud {
namespace {

constexpr double kNanosecond = 1e-9;

}  // namespace

std::vector<ProcessRow> ProcessTable::update(const KernelReading& kernel,
                                             const LabelsOfCgroup& labels_of, MonotonicTime now,
                                             std::size_t max_series) {
  const bool new_walk = kernel.walk && kernel.walk != walk_;
  if (new_walk) follow(kernel.walk);
  refresh_histograms(kernel);
  if (new_walk) finish_intervals();
  relabel(labels_of);

  const std::vector<ProcessCandidate> candidates = by_wait();
  if (new_walk) selection_.rank(candidates, now);
  selection_.select(candidates, now, max_series);
  std::vector<ProcessRow> rows;
  rows.reserve(candidates.size());
  for (const ProcessCandidate& candidate : candidates) rows.push_back(*candidate.row);
  return rows;
}

void ProcessTable::follow(const std::shared_ptr<const ThreadWalk>& walk) {
  previous_ = std::exchange(walk_, walk);
  previous_begin_ns_ = previous_ ? walk_begin_ns(*previous_) : 0;
  ++walks_;
  for (const offcpud_thread& thread : walk_->threads) {
    if (thread.state == OFFCPUD_THREAD_ENDED) continue;  // it alone makes no process
    Process& process = processes_[process_of(thread)];
    if (process.walk != walks_) begin_walk(process);
  }
  std::erase_if(processes_, [this](const auto& entry) { return entry.second.walk != walks_; });

  const WalkPairing walks(previous_.get(), *walk_);
  walks.for_each([this](const offcpud_thread* before, const offcpud_thread* thread) {
    const auto found = processes_.find(process_of(thread ? *thread : *before));
    if (found == processes_.end()) return;
    if (thread) {
      add_thread(found->second, before, *thread);
    } else if (is_waiting(*before)) {
      found->second.ended_ns[before->kind] += countable_wait_ns(*before);
    }
  });
}

void ProcessTable::begin_walk(Process& process) {
  process.walk = walks_;
  process.leader_known = false;
  process.ended_ns.fill(0);
  process.idle_ns = 0;
  process.row.threads = 0;
  process.row.waited_ns.fill(0);
  process.row.running_ns = 0;
  process.row.oldest_blocked.fill({});
}

void ProcessTable::name(Process& process, const offcpud_thread& thread) {
  const bool leader = thread.tid == thread.tgid;
  // While the walk does not show its leader, a process keeps its name.
  if (!leader && (process.leader_known || !process.row.comm.empty())) return;
  process.leader_known = process.leader_known || leader;
  process.row.pid = thread.local_tgid;
  process.row.start_ns = thread.process_start_ns;
  process.row.comm = comm_text(thread.comm);
  process.row.kernel_thread = (thread.flags & OFFCPUD_THREAD_KERNEL) != 0;
  process.cgroup_id = thread.cgroup_id;
}

void ProcessTable::add_thread(Process& process, const offcpud_thread* before,
                              const offcpud_thread& now) {
  name(process, now);
  ProcessRow& row = process.row;
  if (now.state != OFFCPUD_THREAD_ENDED) ++row.threads;
  const bool leads = now.tid == now.tgid;
  if (leads && row.kernel_thread && is_idle(now)) process.waits_for_work = true;
  if (now.state == OFFCPUD_THREAD_BLOCKED && now.kind < OFFCPUD_BLOCKED_KINDS && !is_idle(now)) {
    row.oldest_blocked[now.kind].merge({age_ns(now), (now.flags & OFFCPUD_THREAD_ESTIMATED) != 0});
  }
  if (!previous_) return;  // one walk makes no interval

  const ThreadInterval interval = thread_interval(before, now, previous_begin_ns_);
  row.running_ns += interval.running_ns;
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    row.waited_ns[kind] += interval.waited_ns[kind];
    process.ended_ns[kind] += interval.ended_ns[kind];
  }
  const bool was_idle = (before && is_idle(*before)) || process.waits_for_work;
  process.idle_ns += waited_for_work_ns(now, interval, was_idle);
}

void ProcessTable::refresh_histograms(const KernelReading& kernel) {
  for (const ProcessReading& reading : kernel.processes) {
    const auto found = processes_.find({reading.tgid, reading.start_ns});
    if (found == processes_.end()) continue;
    KindHistograms& histograms = found->second.row.histograms;
    if (histograms != reading.histograms) histograms = reading.histograms;
  }
}

void ProcessTable::finish_intervals() {
  const double length = static_cast<double>(walk_end_ns(*walk_) - previous_begin_ns_) * kNanosecond;
  for (auto& [identity, process] : processes_) {
    ProcessRow& row = process.row;
    IntervalHistogram ended;
    row.actionable_ns = 0;
    if (previous_) {
      add_ended_threads(process, length);
      for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
        if (!is_actionable(kind)) continue;
        row.actionable_ns += row.waited_ns[kind];
        if (kind == OFFCPUD_BLOCKED_KERNEL && process.waits_for_work) continue;
        ended.add(row.histograms[kind].get(), process.at_last_walk[kind].get());
      }
      row.actionable_ns -= std::min(row.actionable_ns, process.idle_ns);
    }
    row.ended = ended.count();
    row.p50_seconds = ended.quantile(0.5);
    row.p99_seconds = ended.quantile(0.99);
    row.max_seconds = ended.quantile(1);
    process.at_last_walk = row.histograms;
  }
}

// Waits of threads that are no longer in the walk show only in the histograms of the process. These
// are read after the walk, so a live thread's wait that ended in between looks like one of them.
// The limit keeps a long wait from counting whole in the interval in which it ended.
void ProcessTable::add_ended_threads(Process& process, double interval_seconds) {
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    const LatencyHistogram* now = process.row.histograms[kind].get();
    const LatencyHistogram* before = process.at_last_walk[kind].get();
    if (!now || now == before) continue;
    const std::uint64_t known = process.ended_ns[kind] + (before ? before->sum_ns : 0);
    if (now->sum_ns <= known) continue;
    std::uint64_t waited = now->sum_ns - known;
    if (static_cast<double>(waited) * kNanosecond > interval_seconds) {
      IntervalHistogram ended;
      ended.add(now, before);
      const double most = ended.most_seconds_within(interval_seconds) / kNanosecond;
      waited = std::min(waited, static_cast<std::uint64_t>(most));
    }
    process.row.waited_ns[kind] += waited;
    if (kind == OFFCPUD_BLOCKED_KERNEL && process.waits_for_work) process.idle_ns += waited;
  }
}

void ProcessTable::relabel(const LabelsOfCgroup& labels_of) {
  std::unordered_map<std::uint64_t, std::shared_ptr<const SubjectLabels>> known;
  for (auto& [identity, process] : processes_) {
    auto& labels = known[process.cgroup_id];
    if (!labels) labels = labels_of(process.cgroup_id);
    process.row.labels = labels;
  }
}

std::vector<ProcessCandidate> ProcessTable::by_wait() {
  std::vector<ProcessCandidate> candidates;
  candidates.reserve(processes_.size());
  for (auto& [identity, process] : processes_) candidates.push_back({identity, &process.row});
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    if (a.row->actionable_ns != b.row->actionable_ns) {
      return a.row->actionable_ns > b.row->actionable_ns;
    }
    return a.identity < b.identity;
  });
  return candidates;
}

}  // namespace offcpud
