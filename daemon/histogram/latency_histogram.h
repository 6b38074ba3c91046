// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "offcpud.h"

namespace offcpud {

// A histogram of durations with the slots of bpf/latency_slot.h, since the start of counting. A
// value type. The number of observations is the sum of the slots.
struct LatencyHistogram {
  std::uint64_t sum_ns = 0;
  std::array<std::uint64_t, OFFCPUD_SLOTS> slots{};

  LatencyHistogram& operator+=(const offcpud_hist& shard);
  LatencyHistogram& operator+=(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] bool empty() const;
  friend bool operator==(const LatencyHistogram&, const LatencyHistogram&) = default;
};

// Upper bound of a slot in seconds, exact: 2^((slot - 80) / 4); +infinity for the last slot.
double slot_bound_seconds(std::size_t slot);

// A bound of a classic histogram: a power of two of a second, so it is also the bound of a slot.
struct ClassicBucket {
  std::size_t last_slot;    // slots 0 .. last_slot are at or below the bound
  const char* upper_bound;  // `le` text, shortest decimal that reads back as the same double
};

// 28 bounds (powers of two, 2^-20 .. 2^7 s) or 14 (powers of four, 2^-20 .. 2^6 s), without +Inf.
std::span<const ClassicBucket> classic_buckets(unsigned count);

}  // namespace offcpud
