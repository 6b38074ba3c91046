// SPDX-License-Identifier: Apache-2.0
#include "histogram/native_buckets.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace offcpud {
namespace {

// Up to this many empty buckets are shorter to write as counts than as the start of a new span.
constexpr std::size_t kGap = 2;

constexpr std::int32_t kIndexOfSlotZero = OFFCPUD_FIRST_OCTAVE * OFFCPUD_SLOTS_PER_OCTAVE;

// Slots handled at once: a word has one bit for each.
constexpr std::size_t kWord = 64;

struct WordOfSlots {
  std::uint64_t used = 0;  // a bit for each slot that is not empty
  std::uint64_t count = 0;
};

// Has no branch per slot: the processor would mispredict half of them.
WordOfSlots look_at(std::span<const std::uint64_t> slots) {
  WordOfSlots word;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    word.used |= std::uint64_t{slots[i] != 0} << i;
    word.count += slots[i];
  }
  return word;
}

}  // namespace

void NativeBuckets::assign(const LatencyHistogram& histogram) {
  spans.clear();
  deltas.clear();
  std::uint64_t last = 0;
  std::size_t end = 0;  // of the previous span
  const auto append = [&](std::uint64_t n) {
    // Wraps modulo 2^64; the reader's sum does, too.
    deltas.push_back(static_cast<std::int64_t>(n - last));
    last = n;
    ++spans.back().length;
  };
  const auto add = [&](std::size_t slot) {
    if (spans.empty()) {
      spans.push_back({kIndexOfSlotZero + static_cast<std::int32_t>(slot), 0});
    } else if (slot - end > kGap) {
      spans.push_back({static_cast<std::int32_t>(slot - end), 0});
    } else {
      for (; end < slot; ++end) append(0);
    }
    append(histogram.slots[slot]);
    end = slot + 1;
  };
  count = 0;
  const std::span<const std::uint64_t> slots = histogram.slots;
  for (std::size_t first = 0; first < slots.size(); first += kWord) {
    auto [used, n] = look_at(slots.subspan(first, std::min(kWord, slots.size() - first)));
    count += n;
    if (first == 0) used &= ~std::uint64_t{1};
    for (; used != 0; used &= used - 1) {
      add(first + static_cast<std::size_t>(std::countr_zero(used)));
    }
  }
}

}  // namespace offcpud
