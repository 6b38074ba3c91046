// SPDX-License-Identifier: Apache-2.0
#include "export/series_writer.h"

#include <cstddef>
#include <utility>

#include "export/text_format.h"

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

}  // namespace

SeriesWriter::SeriesWriter(std::span<const ClassicBucket> buckets)
    : buckets_(buckets), bucket_suffixes_(suffixes_of(buckets)) {}

void SeriesWriter::begin_family(Metric metric) {
  def_ = &metric_def(metric);
  header_written_ = false;
  shared_.clear();
}

void SeriesWriter::number(std::initializer_list<Label> own, std::uint64_t value) {
  begin_sample(own);
  append_number(text_, value);
  text_ += '\n';
}

void SeriesWriter::seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds) {
  begin_sample(own);
  append_seconds(text_, nanoseconds);
  text_ += '\n';
}

void SeriesWriter::ratio(std::initializer_list<Label> own, double value) {
  begin_sample(own);
  append_number(text_, value);
  text_ += '\n';
}

// `_count` is the same sum of slots as the bucket +Inf, so the two cannot disagree.
void SeriesWriter::histogram(const Label& own, const LatencyHistogram& histogram) {
  append_header();
  const std::string_view name = def_->name;
  bucket_prefix_.assign(name).append("_bucket{").append(shared_);
  append_label(bucket_prefix_, own.name, own.value);
  std::uint64_t total = 0;
  std::size_t slot = 0;
  for (std::size_t i = 0; i < bucket_suffixes_.size(); ++i) {
    const std::size_t end = i < buckets_.size() ? buckets_[i].last_slot + 1 : OFFCPUD_SLOTS;
    for (; slot < end; ++slot) total += histogram.slots[slot];
    text_.append(bucket_prefix_).append(bucket_suffixes_[i]);
    append_number(text_, total);
    text_ += '\n';
  }
  const std::string_view labels = std::string_view(bucket_prefix_).substr(bucket_prefix_.find('{'));
  text_.append(name).append("_sum").append(labels).append("} ");
  append_seconds(text_, histogram.sum_ns);
  text_.append("\n").append(name).append("_count").append(labels).append("} ");
  append_number(text_, total);
  text_ += '\n';
}

void SeriesWriter::append_header() {
  if (std::exchange(header_written_, true)) return;
  text_.append("# HELP ").append(def_->name).append(" ").append(def_->help).append("\n# TYPE ");
  text_.append(def_->name).append(" ").append(metric_type_name(def_->type)).append("\n");
}

void SeriesWriter::begin_sample(std::initializer_list<Label> own) {
  append_header();
  text_ += def_->name;
  if (shared_.empty() && own.size() == 0) {
    text_ += ' ';
    return;
  }
  text_.append("{").append(shared_);
  for (const Label& label : own) append_label(text_, label.name, label.value);
  text_ += "} ";
}

}  // namespace offcpud
