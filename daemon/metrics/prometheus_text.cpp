// SPDX-License-Identifier: Apache-2.0
#include "metrics/prometheus_text.h"

#include <cstddef>
#include <utility>

#include "metrics/text_format.h"

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

constexpr std::uint64_t kSumAndCount = 2;

}  // namespace

PrometheusText::PrometheusText(std::span<const ClassicBucket> buckets)
    : buckets_(buckets), bucket_suffixes_(suffixes_of(buckets)) {}

void PrometheusText::begin_family(Metric metric) {
  def_ = &metric_def(metric);
  header_written_ = false;
  shared_.clear();
}

void PrometheusText::share_labels(std::span<const Label> labels) {
  shared_.clear();
  for (const Label& label : labels) {
    if (!label.value.empty()) append_label(shared_, label.name, label.value);
  }
}

void PrometheusText::number(std::initializer_list<Label> own, std::uint64_t value) {
  begin_sample(own);
  append_number(bytes(), value);
  end_sample();
}

void PrometheusText::seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds) {
  begin_sample(own);
  append_seconds(bytes(), nanoseconds);
  end_sample();
}

void PrometheusText::real(std::initializer_list<Label> own, double value) {
  begin_sample(own);
  append_number(bytes(), value);
  end_sample();
}

// `_count` is the sum of the slots, like the bucket +Inf: the two cannot disagree.
void PrometheusText::histogram(const Label& own, const HistogramSeries& series) {
  append_header();
  const std::string_view name = def_->name;
  bucket_prefix_.assign(name).append("_bucket{").append(shared_);
  append_label(bucket_prefix_, own.name, own.value);
  std::string& text = bytes();
  std::uint64_t total = 0;
  std::size_t slot = 0;
  for (std::size_t i = 0; i < bucket_suffixes_.size(); ++i) {
    const std::size_t end = i < buckets_.size() ? buckets_[i].last_slot + 1 : OFFCPUD_SLOTS;
    for (; slot < end; ++slot) total += series.histogram.slots[slot];
    text.append(bucket_prefix_).append(bucket_suffixes_[i]);
    append_number(text, total);
    text += '\n';
  }
  const std::string_view labels = std::string_view(bucket_prefix_).substr(bucket_prefix_.find('{'));
  text.append(name).append("_sum").append(labels).append("} ");
  append_seconds(text, series.histogram.sum_ns);
  text.append("\n").append(name).append("_count").append(labels).append("} ");
  append_number(text, total);
  text += '\n';
  count(def_->id, bucket_suffixes_.size() + kSumAndCount);
}

void PrometheusText::classic_histogram(const ClassicSeries& series) {
  append_header();
  const std::string_view name = def_->name;
  std::string& text = bytes();
  for (const ClassicSeries::Bucket& bucket : series.buckets) {
    std::string bound;
    append_number(bound, bucket.upper_bound);
    text.append(name).append("_bucket{").append(shared_);
    append_label(text, "le", bound);
    text += "} ";
    append_number(text, bucket.cumulative_count);
    text += '\n';
  }
  const std::string labels = shared_.empty() ? " " : "{" + shared_ + "} ";
  text.append(name).append("_sum").append(labels);
  append_number(text, series.sum);
  text.append("\n").append(name).append("_count").append(labels);
  append_number(text, series.buckets.back().cumulative_count);
  text += '\n';
  count(def_->id, series.buckets.size() + kSumAndCount);
}

void PrometheusText::append_header() {
  if (std::exchange(header_written_, true)) return;
  bytes().append("# HELP ").append(def_->name).append(" ").append(def_->help).append("\n# TYPE ");
  bytes().append(def_->name).append(" ").append(metric_type_name(def_->type)).append("\n");
}

void PrometheusText::begin_sample(std::initializer_list<Label> own) {
  append_header();
  std::string& text = bytes();
  text += def_->name;
  if (shared_.empty() && own.size() == 0) {
    text += ' ';
    return;
  }
  text.append("{").append(shared_);
  for (const Label& label : own) append_label(text, label.name, label.value);
  text += "} ";
}

void PrometheusText::end_sample() {
  bytes() += '\n';
  count(def_->id, 1);
}

}  // namespace offcpud
