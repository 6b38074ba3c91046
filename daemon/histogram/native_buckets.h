// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "histogram/latency_histogram.h"

namespace offcpud {

// The zero bucket of a native histogram holds slot 0: up to 2^-20 s.
inline constexpr double kZeroThresholdSeconds = 0x1p-20;

// A run of consecutive buckets. `offset`: of the first span, the index of its first bucket; of
// later spans, the number of buckets since the end of the previous span.
struct BucketSpan {
  std::int32_t offset = 0;
  std::uint32_t length = 0;

  friend bool operator==(const BucketSpan&, const BucketSpan&) = default;
};

// The positive buckets of a native histogram of schema OFFCPUD_SCHEMA, as Prometheus' exposition
// writes them: each count is the difference to the previous bucket's. Source: "Native Histograms"
// (https://prometheus.io/docs/specs/native_histograms/), "Spans and deltas".
struct NativeBuckets {
  std::vector<BucketSpan> spans;
  std::vector<std::int64_t> deltas;
  std::uint64_t count = 0;  // of all slots, including slot 0

  // Slot k becomes the bucket with index k - 80. The last slot has no upper bound in the kernel;
  // here it is the bucket after the last bound. Reuses the memory of earlier values.
  void assign(const LatencyHistogram& histogram);
};

}  // namespace offcpud
