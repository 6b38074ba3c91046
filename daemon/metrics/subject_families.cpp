// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "base/hist_kind.h"
#include "metrics/row_families.h"
#include "pipeline/taker.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

void append_blocked(SeriesWriter& out, const SubjectRow& row, std::size_t kind) {
  append_kind(out, row.series, "reason", kind);
}

void append_waits(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  const auto& waits = row.series.waits[wait_for];
  if (!waits) return;
  HistogramSeries series{waits->shown(), row.series.waits_started[wait_for]};
  if (row.series.exemplars) {
    series.exemplars = (*row.series.exemplars)[place_of(static_cast<WaitFor>(wait_for))];
  }
  out.histogram({"for", kWaitForNames[wait_for]}, series);
}

void append_wait_variance(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  constexpr double kPerSecondSquared = 1e18;  // ns^2
  const auto& waits = row.series.waits[wait_for];
  if (!waits) return;
  out.real({{"for", kWaitForNames[wait_for]}}, waits->variance_ns2() / kPerSecondSquared);
}

void append_waited_on(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  if (!row.series.waited_on) return;
  for (const WaitedOn& each : *row.series.waited_on) {
    if (each.wait_for != static_cast<WaitFor>(wait_for)) continue;
    out.seconds({{"for", kWaitForNames[wait_for]}, {"on", each.on}}, each.ns);
  }
}

void append_goroutine_waits(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  if (!row.series.goroutines || (*row.series.goroutines)[wait_for] == 0) return;
  out.seconds({{"for", kWaitForNames[wait_for]}}, (*row.series.goroutines)[wait_for]);
}

void append_runqueue_wait(SeriesWriter& out, const SubjectRow& row, std::size_t cause) {
  append_kind(out, row.series, "cause", OFFCPUD_BLOCKED_KINDS + cause);
}

// Together they are the sums of append_runqueue_wait(), so throttled waits come along.
void append_kept_off(SeriesWriter& out, const SubjectRow& row, std::size_t /*step*/) {
  if (!row.series.kept_off) return;
  for (const Taker& taker : row.series.kept_off->takers) {
    const Label cgroup{"by_cgroup", taker.by->cgroup}, unit{"by_unit", taker.by->unit};
    if (unit.value.empty()) {
      out.seconds({cgroup}, taker.ns);
    } else {
      out.seconds({cgroup, unit}, taker.ns);
    }
  }
  if (const auto& throttled = row.series.histograms[OFFCPUD_RUNQ_THROTTLED]) {
    out.seconds({{"by_cgroup", kThrottledTaker}}, throttled->sum_ns);
  }
}

void append_running(SeriesWriter& out, const SubjectRow& row, std::size_t /*step*/) {
  out.seconds({}, row.series.running_ns);
}

void append_preemptions(SeriesWriter& out, const SubjectRow& row, std::size_t taker) {
  out.number({{"by", kTakerNames[taker]}}, row.series.preemptions[taker]);
}

void append_wakeups(SeriesWriter& out, const SubjectRow& row, std::size_t waker) {
  if (!row.tells_wakers) return;
  out.number({{"from", kWakerNames[waker]}}, row.series.wakeups[waker]);
}

// Null: the reason has no series. A reason in which threads were blocked before keeps its series,
// with 0, so that an alert sees it end.
const BlocksInProgress* blocks_of(const SubjectSeries& series, std::size_t kind) {
  if (!series.in_progress) return nullptr;
  const BlocksInProgress& blocks = series.in_progress->blocked[kind];
  const bool shown = ((series.in_progress->shown >> kind) & 1U) != 0;
  return shown || blocks.threads > 0 || series.histograms[kind] ? &blocks : nullptr;
}

void append_blocked_threads(SeriesWriter& out, const SubjectRow& row, std::size_t kind) {
  if (const BlocksInProgress* blocks = blocks_of(row.series, kind)) {
    out.number({{"reason", kHistKindNames[kind]}}, blocks->threads);
  }
}

void append_oldest_blocked(SeriesWriter& out, const SubjectRow& row, std::size_t kind) {
  if (const BlocksInProgress* blocks = blocks_of(row.series, kind)) {
    out.seconds({{"reason", kHistKindNames[kind]}}, blocks->oldest.ns);
  }
}

void append_stalled(SeriesWriter& out, const SubjectRow& row, std::size_t kind) {
  const BlocksInProgress* blocks = blocks_of(row.series, kind);
  if (!blocks) return;
  for (std::size_t i = 0; i < row.over.size(); ++i) {
    out.number({{"reason", kHistKindNames[kind]}, {"over", row.over[i]}}, blocks->stalled[i]);
  }
}

// Once a cgroup has a stall it has the series of all that stalls are for, with 0 before and after,
// so that an alert sees them begin and end.
bool shows_stalls(const SubjectRow& row, std::size_t wait_for) {
  if (!row.series.stalls) return false;
  const bool shown = ((row.series.stalls->shown >> wait_for) & 1U) != 0;
  return shown || actionable(static_cast<WaitFor>(wait_for));
}

void append_stalls(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  if (!shows_stalls(row, wait_for)) return;
  out.number({{"for", kWaitForNames[wait_for]}}, row.series.stalls->threads[wait_for]);
}

void append_oldest_stall(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  if (!shows_stalls(row, wait_for)) return;
  out.seconds({{"for", kWaitForNames[wait_for]}}, row.series.stalls->oldest_ns[wait_for]);
}

// While they last only: there is no end of series of whom somebody once waited on.
void append_stalls_on(SeriesWriter& out, const SubjectRow& row, std::size_t wait_for) {
  if (!row.series.stalls) return;
  for (const StallsOn& each : row.series.stalls->on) {
    if (each.wait_for != static_cast<WaitFor>(wait_for)) continue;
    out.number({{"for", kWaitForNames[wait_for]}, {"on", each.on}}, each.threads);
  }
}

void append_deadlocked(SeriesWriter& out, const SubjectRow& row, std::size_t /*step*/) {
  if (row.series.stalls || row.series.deadlocked > 0) out.number({}, row.series.deadlocked);
}

void append_oldest_runnable(SeriesWriter& out, const SubjectRow& row, std::size_t /*step*/) {
  if (row.series.in_progress) out.seconds({}, row.series.in_progress->oldest_runnable_ns);
}

void append_unaccounted(SeriesWriter& out, const SubjectRow& row, std::size_t /*step*/) {
  const auto& in_progress = row.series.in_progress;
  if (in_progress && in_progress->unaccounted_ratio) {
    out.real({}, *in_progress->unaccounted_ratio);
  }
}

constexpr auto kSubjectFamilies = std::to_array<RowFamily<SubjectRow>>({
    {Metric::BlockedSeconds, OFFCPUD_BLOCKED_KINDS, append_blocked},
    {Metric::WaitSeconds, kWaitForNames.size(), append_waits},
    {Metric::WaitVariance, kWaitForNames.size(), append_wait_variance},
    {Metric::WaitedOnSeconds, kWaitForNames.size(), append_waited_on},
    {Metric::GoroutineWaitSeconds, kWaitForNames.size(), append_goroutine_waits},
    {Metric::RunqueueWaitSeconds, kRunqueueKinds, append_runqueue_wait},
    {Metric::KeptOffSeconds, 1, append_kept_off},
    {Metric::RunningSeconds, 1, append_running},
    {Metric::Preemptions, OFFCPUD_TAKERS, append_preemptions},
    {Metric::Wakeups, OFFCPUD_WAKERS, append_wakeups},
    {Metric::BlockedThreads, OFFCPUD_BLOCKED_KINDS, append_blocked_threads},
    {Metric::OldestBlocked, OFFCPUD_BLOCKED_KINDS, append_oldest_blocked},
    {Metric::StalledThreads, OFFCPUD_BLOCKED_KINDS, append_stalled},
    {Metric::StallsInProgress, kWaitForNames.size(), append_stalls},
    {Metric::OldestStall, kWaitForNames.size(), append_oldest_stall},
    {Metric::StallsWaitingOn, kWaitForNames.size(), append_stalls_on},
    {Metric::DeadlockedThreads, 1, append_deadlocked},
    {Metric::OldestRunnable, 1, append_oldest_runnable},
    {Metric::UnaccountedRatio, 1, append_unaccounted},
});

}  // namespace

std::span<const RowFamily<SubjectRow>> subject_families() {
  return kSubjectFamilies;
}

void share_labels(SeriesWriter& out, const SubjectRow& row) {
  share_labels(out, *row.series.labels);
}

void share_labels(SeriesWriter& out, const SubjectLabels& labels) {
  out.share_labels(std::array<Label, 5>{{{"cgroup", labels.cgroup},
                                         {"slice", labels.slice},
                                         {"unit", labels.unit},
                                         {"container_id", labels.container_id},
                                         {"pod_uid", labels.pod_uid}}});
}

}  // namespace offcpud
