// SPDX-License-Identifier: Apache-2.0
#include "histogram/native_buckets.h"

#include <cstddef>

namespace offcpud {
namespace {

// Up to so many empty buckets take less room as counts than as the beginning of another span.
constexpr std::size_t kGap = 2;

constexpr std::int32_t kIndexOfSlotZero = OFFCPUD_FIRST_OCTAVE * OFFCPUD_SLOTS_PER_OCTAVE;

}  // namespace

void NativeBuckets::assign(const LatencyHistogram& histogram) {
  spans.clear();
  deltas.clear();
  std::uint64_t last = 0;
  std::size_t end = 0;  // of the last span
  const auto append = [&](std::uint64_t count) {
    // Modulo 2^64, as the reader adds them.
    deltas.push_back(static_cast<std::int64_t>(count - last));
    last = count;
    ++spans.back().length;
  };
  for (std::size_t slot = 1; slot < histogram.slots.size(); ++slot) {
    const std::uint64_t count = histogram.slots[slot];
    if (count == 0) continue;
    if (spans.empty()) {
      spans.push_back({kIndexOfSlotZero + static_cast<std::int32_t>(slot), 0});
    } else if (slot - end > kGap) {
      spans.push_back({static_cast<std::int32_t>(slot - end), 0});
    } else {
      for (; end < slot; ++end) append(0);
    }
    append(count);
    end = slot + 1;
  }
}

}  // namespace offcpud
