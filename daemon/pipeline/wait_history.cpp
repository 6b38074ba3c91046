// SPDX-License-Identifier: Apache-2.0
#include "pipeline/wait_history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "pipeline/series_store.h"

namespace offcpud {
namespace {

static_assert(OFFCPUD_SLOTS <= std::numeric_limits<std::uint8_t>::max());

bool gains_old_time(const SubjectSeries& row) {
  return is_removed_series(row.labels->cgroup);
}

OpenWaits open_of(const SubjectSeries* row, std::size_t kind) {
  return row && row->in_progress ? row->in_progress->open[kind] : OpenWaits{};
}

// Fills one step, cgroup by cgroup.
class StepWriter {
 public:
  explicit StepWriter(WaitStep& step)
      : step_(step), seconds_(static_cast<double>(step.length().count()) / kNsPerSecond) {}

  // `before` null: the cgroup did not exist when the step began.
  void add(const SubjectSeries* before, const SubjectSeries& now) {
    const std::size_t had = step_.waits.size();
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) add(before, now, kind);
    const std::size_t had_lengths = step_.lengths.size();
    for (std::size_t what = 0; what < kWaitForNames.size(); ++what) {
      if (actionable(static_cast<WaitFor>(what))) add_lengths(before, now, what);
    }
    const std::uint64_t ran = before ? before->running_ns : 0;
    WaitStep::Subject subject{
        .labels = now.labels,
        .waits = static_cast<std::uint32_t>(step_.waits.size() - had),
        .running_ns = now.running_ns - std::min(now.running_ns, ran),
        .lengths = static_cast<std::uint32_t>(step_.lengths.size() - had_lengths)};
    if (subject.waits > 0 || subject.running_ns > 0 || subject.lengths > 0) {
      step_.subjects.push_back(std::move(subject));
    }
  }

 private:
  // An episode enters its histogram whole, so its part within the step is its length less its age
  // when the step began. Threads are read a moment apart from the histograms, so a long wait that
  // ends in between is in both or in neither; the result is limited to what fits into the step.
  void add(const SubjectSeries* before, const SubjectSeries& now, std::size_t kind) {
    const LatencyHistogram* had = before ? before->histograms[kind].get() : nullptr;
    const LatencyHistogram* has = now.histograms[kind].get();
    const OpenWaits open_before = open_of(before, kind);
    const OpenWaits open = open_of(&now, kind);
    if (has == had && open_before.threads == 0 && open.threads == 0) return;

    IntervalHistogram ended;
    std::uint64_t sum_ns = 0;
    if (has && has != had) {
      ended.add(has, had);
      sum_ns = has->sum_ns - (had ? std::min(had->sum_ns, has->sum_ns) : 0);
    }
    const auto most_s = ended.most_seconds_within(seconds_) + open.threads * seconds_;
    const auto within =
        static_cast<std::int64_t>(sum_ns + open.counted_ns - open_before.counted_ns);
    const double waited = static_cast<double>(within) + open.uncounted * seconds_ * kNsPerSecond;
    WaitStep::Wait wait{.kind = static_cast<std::uint8_t>(kind)};
    wait.waited_ns = static_cast<std::uint64_t>(std::clamp(waited, 0.0, most_s * kNsPerSecond));
    wait.cells = add_cells(ended, step_.slots, step_.counts);
    if (wait.cells > 0 || wait.waited_ns > 0) step_.waits.push_back(wait);
  }

  void add_lengths(const SubjectSeries* before, const SubjectSeries& now, std::size_t what) {
    const EstimatedHistogram* had = before ? before->waits[what].get() : nullptr;
    const EstimatedHistogram* has = now.waits[what].get();
    if (!has || has == had) return;
    IntervalHistogram ended;
    ended.add(&has->shown(), had ? &had->shown() : nullptr);
    const std::uint32_t cells = add_cells(ended, step_.length_slots, step_.length_counts);
    if (cells > 0) step_.lengths.push_back({static_cast<WaitFor>(what), cells});
  }

  static std::uint32_t add_cells(const IntervalHistogram& ended, std::vector<std::uint8_t>& slots,
                                 std::vector<std::uint32_t>& counts) {
    if (ended.count() == 0) return 0;
    const std::size_t had = slots.size();
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
      for (std::uint64_t left = ended.count_of(slot); left > 0; left -= std::min(left, kMost)) {
        slots.push_back(static_cast<std::uint8_t>(slot));
        counts.push_back(static_cast<std::uint32_t>(std::min(left, kMost)));
      }
    }
    return static_cast<std::uint32_t>(slots.size() - had);
  }

  WaitStep& step_;
  double seconds_;
};

std::shared_ptr<const WaitStep> step_between(const std::vector<SubjectSeries>& before,
                                             MonotonicTime begin, const View& view) {
  auto step = std::make_shared<WaitStep>();
  step->begin = begin;
  step->end = view.taken;
  step->end_wall = view.taken_wall;
  StepWriter writer(*step);
  auto old = before.begin();
  for (const SubjectSeries& row : view.subjects) {
    while (old != before.end() && old->labels->cgroup < row.labels->cgroup) ++old;
    if (gains_old_time(row)) continue;
    const bool known = old != before.end() && old->labels->cgroup == row.labels->cgroup;
    writer.add(known ? &*old : nullptr, row);
  }
  step->slots.shrink_to_fit();
  step->subjects.shrink_to_fit();
  step->waits.shrink_to_fit();
  step->counts.shrink_to_fit();
  step->lengths.shrink_to_fit();
  step->length_slots.shrink_to_fit();
  step->length_counts.shrink_to_fit();
  return step;
}

}  // namespace

std::size_t WaitStep::bytes() const {
  return sizeof(*this) + subjects.capacity() * sizeof(Subject) + waits.capacity() * sizeof(Wait) +
         slots.capacity() + counts.capacity() * sizeof(counts[0]) +
         lengths.capacity() * sizeof(Lengths) + length_slots.capacity() +
         length_counts.capacity() * sizeof(length_counts[0]);
}

std::vector<std::shared_ptr<const WaitStep>> WaitHistory::record(const View& view) {
  if (!has_base_) {
    has_base_ = true;
    base_ = view.subjects;
    base_taken_ = view.taken;
    return {};
  }
  auto step = step_between(base_, base_taken_, view);
  auto all = steps_;
  if (step->length() > std::chrono::nanoseconds(0)) all.push_back(step);
  if (step->length() < limits_.step) return all;
  bytes_ += step->bytes();
  steps_.push_back(std::move(step));
  base_ = view.subjects;
  base_taken_ = view.taken;
  forget_old(view.taken);
  return steps_;
}

// Keeps at least the newest step, whatever its size.
void WaitHistory::forget_old(MonotonicTime now) {
  std::size_t old = 0;
  while (old + 1 < steps_.size() &&
         (bytes_ > limits_.bytes || now - steps_[old]->begin > limits_.age)) {
    bytes_ -= steps_[old]->bytes();
    ++old;
  }
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(old));
}

}  // namespace offcpud
