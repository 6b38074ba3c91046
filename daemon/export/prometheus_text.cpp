// SPDX-License-Identifier: Apache-2.0
#include "export/prometheus_text.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "export/text_format.h"
#include "histogram/hist_kind.h"

namespace offcpud {
namespace {

std::vector<std::string> suffixes_of(std::span<const ClassicBucket> buckets) {
  std::vector<std::string> suffixes;
  suffixes.reserve(buckets.size() + 1);
  for (const ClassicBucket& bucket : buckets) {
    suffixes.push_back(std::string(",le=\"") + bucket.upper_bound + "\"} ");
  }
  suffixes.emplace_back(",le=\"+Inf\"} ");
  return suffixes;
}

void append_subject_labels(std::string& out, const SubjectLabels& labels) {
  const auto append = [&out](std::string_view name, const std::string& value) {
    if (!value.empty()) append_label(out, name, value);
  };
  append("cgroup", labels.cgroup);
  append("slice", labels.slice);
  append("unit", labels.unit);
  append("container_id", labels.container_id);
  append("pod_uid", labels.pod_uid);
}

void append_labelled(std::string& out, std::string_view name, std::string_view label,
                     std::string_view label_value, std::uint64_t value) {
  out.append(name).append("{");
  append_label(out, label, label_value);
  out += "} ";
  append_number(out, value);
  out += '\n';
}

}  // namespace

PrometheusText::PrometheusText(std::shared_ptr<const View> view, unsigned classic_buckets,
                               std::string self_metrics)
    : view_(std::move(view)),
      buckets_(offcpud::classic_buckets(classic_buckets)),
      bucket_suffixes_(suffixes_of(buckets_)),
      self_metrics_(std::move(self_metrics)) {}

std::size_t PrometheusText::read(std::span<char> buffer) {
  std::size_t written = 0;
  while (written < buffer.size()) {
    if (position_ == pending_.size() && !refill()) break;
    const std::size_t n = std::min(buffer.size() - written, pending_.size() - position_);
    pending_.copy(buffer.data() + written, n, position_);
    position_ += n;
    written += n;
  }
  return written;
}

bool PrometheusText::refill() {
  pending_.clear();
  position_ = 0;
  while (pending_.empty() && part_ != Part::End) append_next();
  return !pending_.empty();
}

void PrometheusText::append_next() {
  switch (part_) {
    case Part::Blocked:
      return append_histogram_series(Metric::BlockedSeconds, "reason", 0, OFFCPUD_BLOCKED_KINDS);
    case Part::RunqueueWait:
      return append_histogram_series(Metric::RunqueueWaitSeconds, "cause", OFFCPUD_BLOCKED_KINDS,
                                     OFFCPUD_HIST_KINDS);
    case Part::Running:
      return append_running();
    case Part::Totals:
      append_totals();
      return next_part();
    case Part::SelfMetrics:
      pending_ = std::move(self_metrics_);
      return next_part();
    case Part::End:
      return;
  }
}

void PrometheusText::next_part() {
  part_ = static_cast<Part>(static_cast<int>(part_) + 1);
  subject_ = 0;
  kind_ = 0;
  header_written_ = false;
}

void PrometheusText::append_histogram_series(Metric metric, std::string_view label,
                                             std::size_t first_kind, std::size_t end_kind) {
  if (subject_ == view_->subjects.size()) return next_part();
  if (kind_ < first_kind) kind_ = first_kind;
  if (kind_ == first_kind) enter_subject();

  const auto& histogram = view_->subjects[subject_].histograms[kind_];
  if (histogram && !histogram->empty()) {
    const MetricDef& def = metric_def(metric);
    append_header(def);
    append_histogram(*histogram, def.name, label, kHistKindNames[kind_]);
  }
  if (++kind_ == end_kind) {
    kind_ = first_kind;
    ++subject_;
  }
}

// `_count` is the same sum of slots as the bucket +Inf, so the two cannot disagree.
void PrometheusText::append_histogram(const LatencyHistogram& histogram, std::string_view name,
                                      std::string_view label, std::string_view value) {
  bucket_prefix_.assign(name).append("_bucket{").append(subject_labels_);
  append_label(bucket_prefix_, label, value);
  std::uint64_t total = 0;
  std::size_t slot = 0;
  for (std::size_t i = 0; i < bucket_suffixes_.size(); ++i) {
    const std::size_t end = i < buckets_.size() ? buckets_[i].last_slot + 1 : OFFCPUD_SLOTS;
    for (; slot < end; ++slot) total += histogram.slots[slot];
    pending_.append(bucket_prefix_).append(bucket_suffixes_[i]);
    append_number(pending_, total);
    pending_ += '\n';
  }
  const std::string_view labels = std::string_view(bucket_prefix_).substr(bucket_prefix_.find('{'));
  pending_.append(name).append("_sum").append(labels).append("} ");
  append_seconds(pending_, histogram.sum_ns);
  pending_.append("\n").append(name).append("_count").append(labels).append("} ");
  append_number(pending_, total);
  pending_ += '\n';
}

void PrometheusText::append_running() {
  if (subject_ == view_->subjects.size()) return next_part();
  enter_subject();
  const MetricDef& def = metric_def(Metric::RunningSeconds);
  append_header(def);
  pending_.append(def.name).append("{").append(subject_labels_).append("} ");
  append_seconds(pending_, view_->subjects[subject_].running_ns);
  pending_ += '\n';
  ++subject_;
}

void PrometheusText::append_totals() {
  const auto append_family = [this](Metric metric, const auto& rows, const auto& append_row) {
    if (rows.empty()) return;
    header_written_ = false;
    append_header(metric_def(metric));
    for (const auto& row : rows) append_row(metric_def(metric).name, row);
  };
  append_family(Metric::LostEvents, view_->losses, [this](auto name, const LossCount& loss) {
    append_labelled(pending_, name, "cause", loss.cause, loss.events);
  });
  append_total(Metric::ThreadsLeftCensored, view_->left_censored);
  append_family(Metric::MapEntries, view_->maps, [this](auto name, const MapUsage& usage) {
    append_labelled(pending_, name, "map", usage.map, usage.entries);
  });
  append_family(Metric::MapCapacity, view_->maps, [this](auto name, const MapUsage& usage) {
    append_labelled(pending_, name, "map", usage.map, usage.capacity);
  });
  append_total(Metric::Series, view_->histogram_series);
  append_total(Metric::SeriesFolded, view_->folded_series);

  const MetricDef& last_pass = metric_def(Metric::LastPassTimestamp);
  header_written_ = false;
  append_header(last_pass);
  pending_.append(last_pass.name).append(" ");
  const std::chrono::nanoseconds since_epoch = view_->taken_wall.time_since_epoch();
  append_seconds(pending_,
                 static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 0)));
  pending_ += '\n';
}

void PrometheusText::append_total(Metric metric, std::uint64_t value) {
  const MetricDef& def = metric_def(metric);
  header_written_ = false;
  append_header(def);
  pending_.append(def.name).append(" ");
  append_number(pending_, value);
  pending_ += '\n';
}

void PrometheusText::append_header(const MetricDef& def) {
  if (std::exchange(header_written_, true)) return;
  pending_.append("# HELP ").append(def.name).append(" ").append(def.help).append("\n# TYPE ");
  pending_.append(def.name).append(" ").append(metric_type_name(def.type)).append("\n");
}

void PrometheusText::enter_subject() {
  subject_labels_.clear();
  append_subject_labels(subject_labels_, *view_->subjects[subject_].labels);
}

}  // namespace offcpud
