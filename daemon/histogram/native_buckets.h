// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "histogram/latency_histogram.h"

namespace offcpud {

// The zero bucket of a native histogram holds slot 0: up to 2^-20 s.
inline constexpr double kZeroThresholdSeconds = 0x1p-20;

// Buckets that follow one another. `offset` is the index of the first bucket of the first span, and
// of a later one the number of buckets between it and the span before.
struct BucketSpan {
  std::int32_t offset = 0;
  std::uint32_t length = 0;

  friend bool operator==(const BucketSpan&, const BucketSpan&) = default;
};

// The positive buckets of a native histogram of schema OFFCPUD_SCHEMA, as Prometheus' exposition
// has them: each count as the difference to that of the bucket before. Source: "Native Histograms"
// (https://prometheus.io/docs/specs/native_histograms/), "Spans and deltas".
struct NativeBuckets {
  std::vector<BucketSpan> spans;
  std::vector<std::int64_t> deltas;
  std::uint64_t count = 0;  // of all slots, slot 0 as well

  // Slot k is the bucket of index k - 80. The last slot has no upper bound in the kernel; here it
  // is the bucket that follows the last bound. Keeps the capacity of what it replaces.
  void assign(const LatencyHistogram& histogram);
};

}  // namespace offcpud
