// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "histogram/latency_histogram.h"
#include "offcpud.h"

namespace offcpud {

// The histograms of one process by kind, as the kernel counts them; null: no episode so far.
using KindHistograms = std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS>;

// The episodes that ended within an interval: the difference of histograms.
class IntervalHistogram {
 public:
  // Adds what `now` has more than `before`; either may be null. The same object twice costs
  // nothing. Counts that went down, which a process does not do, add nothing.
  void add(const LatencyHistogram* now, const LatencyHistogram* before);

  // Adds `count` episodes of a slot.
  void add(std::size_t slot, std::uint64_t count) {
    slots_[slot] += count;
    count_ += count;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t count_of(std::size_t slot) const { return slots_[slot]; }

  // The slot that holds the episode of this rank (0 < share <= 1); only when some have ended.
  [[nodiscard]] std::size_t quantile_slot(double share) const;

  // Upper bound of the slot that holds the episode of this rank (0 < share <= 1), in seconds; 0
  // when no episode ended. The last slot has no bound: +infinity.
  [[nodiscard]] double quantile(double share) const;

  // The most that these episodes can have lasted within an interval of this length.
  [[nodiscard]] double most_seconds_within(double interval_seconds) const;

 private:
  std::array<std::uint64_t, OFFCPUD_SLOTS> slots_{};
  std::uint64_t count_ = 0;
};

}  // namespace offcpud
