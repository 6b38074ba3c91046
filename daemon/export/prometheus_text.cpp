// SPDX-License-Identifier: Apache-2.0
#include "export/prometheus_text.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "histogram/latency_histogram.h"
#include "pipeline/sample_source.h"

namespace offcpud {
namespace {

// Whole seconds as "60s", all else as "250ms": one spelling, whatever units were configured.
std::vector<std::string> texts_of(const std::vector<std::chrono::milliseconds>& bounds) {
  std::vector<std::string> texts;
  texts.reserve(bounds.size());
  for (const std::chrono::milliseconds bound : bounds) {
    const auto ms = bound.count();
    texts.push_back(ms % 1000 == 0 ? std::to_string(ms / 1000) + "s" : std::to_string(ms) + "ms");
  }
  return texts;
}

// The View has them by what they wait, which changes; series must not move about. A pid names one
// process: pid 0 is one that the daemon's PID namespace does not have, and of two that had the same
// pid the later one has it.
std::vector<const ProcessRow*> exported_by_pid(const std::vector<ProcessRow>& rows) {
  std::vector<const ProcessRow*> exported;
  for (const ProcessRow& row : rows) {
    if (row.exported && row.pid != 0) exported.push_back(&row);
  }
  std::sort(exported.begin(), exported.end(), [](const ProcessRow* a, const ProcessRow* b) {
    return a->pid != b->pid ? a->pid < b->pid : a->start_ns > b->start_ns;
  });
  const auto same_pid = [](const ProcessRow* a, const ProcessRow* b) { return a->pid == b->pid; };
  exported.erase(std::unique(exported.begin(), exported.end(), same_pid), exported.end());
  return exported;
}

}  // namespace

PrometheusText::PrometheusText(std::shared_ptr<const View> view, unsigned classic_buckets,
                               std::string self_metrics)
    : view_(std::move(view)),
      processes_(exported_by_pid(view_->processes)),
      over_(texts_of(view_->stall_bounds)),
      self_metrics_(std::move(self_metrics)),
      out_(offcpud::classic_buckets(classic_buckets)) {}

std::size_t PrometheusText::read(std::span<char> buffer) {
  std::size_t written = 0;
  while (written < buffer.size()) {
    if (position_ == out_.text().size() && !refill()) break;
    const std::size_t n = std::min(buffer.size() - written, out_.text().size() - position_);
    out_.text().copy(buffer.data() + written, n, position_);
    position_ += n;
    written += n;
  }
  return written;
}

bool PrometheusText::refill() {
  out_.text().clear();
  position_ = 0;
  while (out_.text().empty() && part_ != Part::End) append_next();
  return !out_.text().empty();
}

void PrometheusText::append_next() {
  switch (part_) {
    case Part::Subjects:
      return append_step(subject_families(), view_->subjects.size(), [this](std::size_t row) {
        return SubjectRow{view_->subjects[row], over_, view_->tells_wakers};
      });
    case Part::Processes:
      return append_step(process_families(), processes_.size(),
                         [this](std::size_t row) -> const ProcessRow& { return *processes_[row]; });
    case Part::Totals:
      append_totals();
      return next_part();
    case Part::SelfMetrics:
      out_.text() = std::move(self_metrics_);
      return next_part();
    case Part::End:
      return;
  }
}

void PrometheusText::next_part() {
  part_ = static_cast<Part>(static_cast<int>(part_) + 1);
  family_ = 0;
  row_ = 0;
  step_ = 0;
}

template <typename Row, typename RowAt>
void PrometheusText::append_step(std::span<const RowFamily<Row>> families, std::size_t rows,
                                 const RowAt& row_at) {
  if (family_ == families.size()) return next_part();
  if (row_ == rows) {
    ++family_;
    row_ = 0;
    return;
  }
  const RowFamily<Row>& family = families[family_];
  const Row& row = row_at(row_);
  if (row_ == 0 && step_ == 0) out_.begin_family(family.metric);
  if (step_ == 0) out_.share_labels(shared_labels(row));
  family.append(out_, row, step_);
  if (++step_ == family.steps) {
    step_ = 0;
    ++row_;
  }
}

void PrometheusText::append_totals() {
  out_.begin_family(Metric::LostEvents);
  for (const LossCount& loss : view_->losses) out_.number({{"cause", loss.cause}}, loss.events);
  append_total(Metric::ThreadsLeftCensored, view_->left_censored);
  if (view_->running_deviation_ratio) {
    out_.begin_family(Metric::RunningDeviationRatio);
    out_.ratio({}, *view_->running_deviation_ratio);
  }
  if (view_->walk) append_total(Metric::ThreadWalkPasses, view_->walk->passes);
  out_.begin_family(Metric::MapEntries);
  for (const MapUsage& usage : view_->maps) out_.number({{"map", usage.map}}, usage.entries);
  out_.begin_family(Metric::MapCapacity);
  for (const MapUsage& usage : view_->maps) out_.number({{"map", usage.map}}, usage.capacity);
  append_total(Metric::Series, view_->histogram_series);
  append_total(Metric::SeriesFolded, view_->folded_series);
  append_total(Metric::ProcessesRefused, view_->refused_processes);

  const std::chrono::nanoseconds since_epoch = view_->taken_wall.time_since_epoch();
  out_.begin_family(Metric::LastPassTimestamp);
  out_.seconds({}, static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 0)));
}

void PrometheusText::append_total(Metric metric, std::uint64_t value) {
  out_.begin_family(metric);
  out_.number({}, value);
}

}  // namespace offcpud
