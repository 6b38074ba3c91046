// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <protozero/types.hpp>

// Field numbers of Prometheus' protobuf exposition, as far as we use it. Source:
// io/prometheus/client/metrics.proto of https://github.com/prometheus/client_model (0.6).
namespace offcpud::metric_proto {

enum class FamilyField : protozero::pbf_tag_type { Name = 1, Help = 2, Type = 3, Metric = 4 };

enum class FamilyType { Counter = 0, Gauge = 1, Histogram = 4 };

enum class MetricField : protozero::pbf_tag_type {
  Label = 1,
  Gauge = 2,
  Counter = 3,
  Histogram = 7
};

enum class LabelField : protozero::pbf_tag_type { Name = 1, Value = 2 };

enum class ValueField : protozero::pbf_tag_type { Value = 1 };  // of gauges and counters

enum class HistogramField : protozero::pbf_tag_type {
  Count = 1,
  Sum = 2,
  Bucket = 3,
  Schema = 5,
  ZeroThreshold = 6,
  ZeroCount = 7,
  PositiveSpan = 12,
  PositiveDelta = 13,
  Created = 15,
  Exemplar = 16,
};

enum class BucketField : protozero::pbf_tag_type {
  CumulativeCount = 1,
  UpperBound = 2,
  Exemplar = 3
};

enum class SpanField : protozero::pbf_tag_type { Offset = 1, Length = 2 };

enum class ExemplarField : protozero::pbf_tag_type { Label = 1, Value = 2, Timestamp = 3 };

enum class TimestampField : protozero::pbf_tag_type { Seconds = 1, Nanos = 2 };

}  // namespace offcpud::metric_proto
