// SPDX-License-Identifier: Apache-2.0
#include "metrics/prometheus_protobuf.h"

#include <algorithm>
#include <array>
#include <protozero/pbf_builder.hpp>
#include <utility>

#include "metrics/exemplar_labels.h"
#include "metrics/label_value.h"
#include "metrics/metric_family_fields.h"

namespace offcpud {
namespace {

using namespace metric_proto;
using protozero::pbf_builder;

// The double nearest to the exact value, as a reader of the text gets it. Divides as long double: a
// double cannot hold so many nanoseconds.
double to_seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(static_cast<long double>(nanoseconds) / 1e9L);
}

FamilyType type_of(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return FamilyType::Counter;
    case MetricType::Gauge:
      return FamilyType::Gauge;
    case MetricType::Histogram:
      return FamilyType::Histogram;
  }
  return FamilyType::Gauge;
}

template <typename Field>
void add_label(pbf_builder<Field>& message, Field field, const Label& label) {
  pbf_builder<LabelField> pair(message, field);
  pair.add_string(LabelField::Name, label.name.data(), label.name.size());
  std::string shown;
  append_label_value(shown, label.value);
  pair.add_string(LabelField::Value, shown);
}

// google.protobuf.Timestamp: nanoseconds are never negative, even before 1970.
struct Timestamp {
  explicit Timestamp(WallTime time)
      : seconds(std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count()),
        nanos(std::chrono::nanoseconds(time.time_since_epoch() - std::chrono::seconds(seconds))
                  .count()) {}
  std::int64_t seconds, nanos;
};

template <typename Field>
void add_time(pbf_builder<Field>& message, Field field, WallTime time) {
  const Timestamp at(time);
  pbf_builder<TimestampField> timestamp(message, field);
  timestamp.add_int64(TimestampField::Seconds, at.seconds);
  timestamp.add_int32(TimestampField::Nanos, static_cast<std::int32_t>(at.nanos));
}

template <typename Field>
void add_exemplar(pbf_builder<Field>& message, Field field, const Exemplar& exemplar) {
  pbf_builder<ExemplarField> out(message, field);
  const ExemplarLabels labels(exemplar);
  for (const Label& label : labels.labels()) add_label(out, ExemplarField::Label, label);
  out.add_double(ExemplarField::Value, to_seconds(exemplar.duration_ns));
  add_time(out, ExemplarField::Timestamp, exemplar.ended);
}

// Null: there are no exemplars.
const Exemplar* longest_of_latest(std::span<const Exemplar> exemplars) {
  const auto found = std::ranges::max_element(
      exemplars, {}, [](const Exemplar& one) { return std::pair(one.round, one.duration_ns); });
  return found == exemplars.end() ? nullptr : &*found;
}

template <typename Field>
std::uint64_t tag_of(Field field, protozero::pbf_wire_type type) {
  return static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(type);
}

// A short message of a few numbers inside of another one; the destructor appends it to `bytes`.
// There are dozens in each series, and protozero would move each of them after writing it.
template <typename Field>
class ShortMessage {
 public:
  template <typename Outer>
  ShortMessage(std::string& bytes, Outer field) : bytes_(bytes) {
    end_ += protozero::add_varint_to_buffer(
        end_, tag_of(field, protozero::pbf_wire_type::length_delimited));
    begin_ = ++end_;  // leaves room for the length, which is less than 128
  }
  ~ShortMessage() {
    begin_[-1] = static_cast<char>(end_ - begin_);
    bytes_.append(message_.data(), static_cast<std::size_t>(end_ - message_.data()));
  }
  ShortMessage(const ShortMessage&) = delete;
  ShortMessage& operator=(const ShortMessage&) = delete;

  void add_varint(Field field, std::uint64_t value) {
    end_ += protozero::add_varint_to_buffer(end_, tag_of(field, protozero::pbf_wire_type::varint));
    end_ += protozero::add_varint_to_buffer(end_, value);
  }

  // Adds a field that is encoded already; at most 16 bytes.
  void add_field(const std::string& field) { end_ += field.copy(end_, field.size()); }

 private:
  std::string& bytes_;
  std::array<char, 64> message_;  // NOLINT(*-member-init): written before it is read
  char* end_ = message_.data();
  char* begin_ = nullptr;
};

}  // namespace

PrometheusProtobuf::PrometheusProtobuf(std::span<const ClassicBucket> buckets, bool with_exemplars)
    : buckets_(buckets.begin(), buckets.end()), with_exemplars_(with_exemplars) {
  for (const ClassicBucket& bucket : buckets) {
    pbf_builder<BucketField>(bounds_.emplace_back())
        .add_double(BucketField::UpperBound, slot_bound_seconds(bucket.last_slot));
  }
}

void PrometheusProtobuf::begin_family(Metric metric) {
  def_ = &metric_def(metric);
  measures_ = true;
  measured_ = 0;
  shared_.clear();
}

bool PrometheusProtobuf::end_family() {
  if (!measures_ || measured_ == 0) return false;
  measures_ = false;
  append_header();
  return true;
}

void PrometheusProtobuf::share_labels(std::span<const Label> labels) {
  shared_.clear();
  pbf_builder<MetricField> message(shared_);
  for (const Label& label : labels) {
    if (!label.value.empty()) add_label(message, MetricField::Label, label);
  }
}

void PrometheusProtobuf::number(std::initializer_list<Label> own, std::uint64_t value) {
  real(own, static_cast<double>(value));
}

void PrometheusProtobuf::seconds(std::initializer_list<Label> own, std::uint64_t nanoseconds) {
  real(own, to_seconds(nanoseconds));
}

void PrometheusProtobuf::real(std::initializer_list<Label> own, double value) {
  begin_metric(own);
  {
    pbf_builder<MetricField> message(metric_);
    const bool counter = def_->type == MetricType::Counter;
    pbf_builder<ValueField> out(message, counter ? MetricField::Counter : MetricField::Gauge);
    out.add_double(ValueField::Value, value);
  }
  end_metric(1);
}

// The count is the sum of the slots, as in text: the two formats cannot disagree.
void PrometheusProtobuf::histogram(const Label& own, const HistogramSeries& series) {
  begin_metric({own});
  native_.assign(series.histogram);
  histogram_.clear();
  {
    pbf_builder<HistogramField> out(histogram_);
    out.add_uint64(HistogramField::Count, native_.count);
    out.add_double(HistogramField::Sum, to_seconds(series.histogram.sum_ns));
  }
  append_buckets(series);
  append_native(series);
  pbf_builder<MetricField>(metric_).add_message(MetricField::Histogram, histogram_);
  end_metric(1);
}

void PrometheusProtobuf::append_native(const HistogramSeries& series) {
  pbf_builder<HistogramField> out(histogram_);
  out.add_sint32(HistogramField::Schema, OFFCPUD_SCHEMA);
  out.add_double(HistogramField::ZeroThreshold, kZeroThresholdSeconds);
  out.add_uint64(HistogramField::ZeroCount, series.histogram.slots[0]);
  // A span without length marks the histogram as native although no bucket is used.
  if (native_.spans.empty()) native_.spans.emplace_back();
  for (const BucketSpan& span : native_.spans) {
    ShortMessage<SpanField> message(histogram_, HistogramField::PositiveSpan);
    message.add_varint(SpanField::Offset, protozero::encode_zigzag32(span.offset));
    message.add_varint(SpanField::Length, span.length);
  }
  append_deltas();
  if (series.started != WallTime{}) append_start(series.started);
  for (const Exemplar& exemplar : exemplars_of(series)) {
    add_exemplar(out, HistogramField::Exemplar, exemplar);
  }
}

std::span<const Exemplar> PrometheusProtobuf::exemplars_of(const HistogramSeries& series) const {
  return with_exemplars_ ? series.exemplars : std::span<const Exemplar>();
}

void PrometheusProtobuf::append_start(WallTime start) {
  const Timestamp at(start);
  ShortMessage<TimestampField> created(histogram_, HistogramField::Created);
  created.add_varint(TimestampField::Seconds, static_cast<std::uint64_t>(at.seconds));
  created.add_varint(TimestampField::Nanos, static_cast<std::uint64_t>(at.nanos));
}

// A packed field is a sequence of numbers.
void PrometheusProtobuf::append_deltas() {
  std::array<char, std::size_t{OFFCPUD_SLOTS} * protozero::max_varint_length>
      packed;  // NOLINT(*-member-init): written before it is read
  char* end = packed.data();
  for (const std::int64_t delta : native_.deltas) {
    end += protozero::add_varint_to_buffer(end, protozero::encode_zigzag64(delta));
  }
  if (end == packed.data()) return;
  pbf_builder<HistogramField>(histogram_)
      .add_bytes(HistogramField::PositiveDelta, packed.data(),
                 static_cast<std::size_t>(end - packed.data()));
}

// Leaves out the bucket +Inf, as the count says the same.
void PrometheusProtobuf::append_buckets(const HistogramSeries& series) {
  const Exemplar* longest = longest_of_latest(exemplars_of(series));
  std::uint64_t total = 0;
  std::size_t slot = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    for (; slot <= buckets_[i].last_slot; ++slot) total += series.histogram.slots[slot];
    if (longest != nullptr && offcpud_slot(longest->duration_ns) <= buckets_[i].last_slot) {
      pbf_builder<HistogramField> out(histogram_);
      pbf_builder<BucketField> bucket(out, HistogramField::Bucket);
      bucket.add_uint64(BucketField::CumulativeCount, total);
      bucket.add_double(BucketField::UpperBound, slot_bound_seconds(buckets_[i].last_slot));
      add_exemplar(bucket, BucketField::Exemplar, *longest);
      longest = nullptr;
      continue;
    }
    ShortMessage<BucketField> bucket(histogram_, HistogramField::Bucket);
    bucket.add_varint(BucketField::CumulativeCount, total);
    bucket.add_field(bounds_[i]);
  }
}

void PrometheusProtobuf::classic_histogram(const ClassicSeries& series) {
  begin_metric({});
  {
    pbf_builder<MetricField> message(metric_);
    pbf_builder<HistogramField> out(message, MetricField::Histogram);
    out.add_uint64(HistogramField::Count, series.buckets.back().cumulative_count);
    out.add_double(HistogramField::Sum, series.sum);
    for (const ClassicSeries::Bucket& bucket : series.buckets) {
      pbf_builder<BucketField> inner(out, HistogramField::Bucket);
      inner.add_uint64(BucketField::CumulativeCount, bucket.cumulative_count);
      inner.add_double(BucketField::UpperBound, bucket.upper_bound);
    }
  }
  end_metric(series.buckets.size() + 2);
}

void PrometheusProtobuf::begin_metric(std::initializer_list<Label> own) {
  metric_ = shared_;
  pbf_builder<MetricField> message(metric_);
  for (const Label& label : own) add_label(message, MetricField::Label, label);
}

void PrometheusProtobuf::end_metric(std::uint64_t samples) {
  const std::uint64_t tag = tag_of(FamilyField::Metric, protozero::pbf_wire_type::length_delimited);
  if (measures_) {
    measured_ += static_cast<std::size_t>(protozero::length_of_varint(tag)) +
                 static_cast<std::size_t>(protozero::length_of_varint(metric_.size())) +
                 metric_.size();
    return;
  }
  protozero::add_varint_to_buffer(&bytes(), tag);
  protozero::add_varint_to_buffer(&bytes(), metric_.size());
  bytes() += metric_;
  count(def_->id, samples);
}

void PrometheusProtobuf::append_header() {
  std::string header;
  pbf_builder<FamilyField> family(header);
  family.add_string(FamilyField::Name, def_->name.data(), def_->name.size());
  family.add_string(FamilyField::Help, def_->help.data(), def_->help.size());
  family.add_enum(FamilyField::Type, static_cast<std::int32_t>(type_of(def_->type)));
  protozero::add_varint_to_buffer(&bytes(), header.size() + measured_);
  bytes() += header;
}

}  // namespace offcpud
