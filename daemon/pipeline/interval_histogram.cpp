// SPDX-License-Identifier: Apache-2.0
#include "pipeline/interval_histogram.h"

#include <algorithm>
#include <cmath>

namespace offcpud {

void IntervalHistogram::add(const LatencyHistogram* now, const LatencyHistogram* before) {
  if (!now || now == before) return;
  for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
    const std::uint64_t had = before ? before->slots[slot] : 0;
    if (now->slots[slot] <= had) continue;
    add(slot, now->slots[slot] - had);
  }
}

std::size_t IntervalHistogram::quantile_slot(double share) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t below = 0;
  for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
    below += slots_[slot];
    if (below >= std::max<std::uint64_t>(rank, 1)) return slot;
  }
  return OFFCPUD_SLOTS - 1;
}

double IntervalHistogram::quantile(double share) const {
  return count_ == 0 ? 0 : slot_bound_seconds(quantile_slot(share));
}

double IntervalHistogram::most_seconds_within(double interval_seconds) const {
  double most = 0;
  for (std::size_t slot = 0; slot < OFFCPUD_SLOTS; ++slot) {
    if (slots_[slot] == 0) continue;
    most +=
        static_cast<double>(slots_[slot]) * std::min(slot_bound_seconds(slot), interval_seconds);
  }
  return most;
}

}  // namespace offcpud
