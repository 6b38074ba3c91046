// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "histogram/latency_histogram.h"
#include "offcpud.h"

namespace offcpud {

// A process's histograms by kind, as the kernel counts them; null: no episode yet.
using KindHistograms = std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS>;

// The episodes that ended within an interval: the difference of two histograms.
class IntervalHistogram {
 public:
  // Adds the difference of `now` and `before`; either may be null. Passing the same object twice
  // costs nothing. Counts that went down add nothing; the counts of a process never go down.
  void add(const LatencyHistogram* now, const LatencyHistogram* before);

  // Adds `count` episodes of a slot.
  void add(std::size_t slot, std::uint64_t count) {
    slots_[slot] += count;
    count_ += count;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t count_of(std::size_t slot) const { return slots_[slot]; }

  // The slot of the episode of this rank (0 < share <= 1). Call it only if count() > 0.
  [[nodiscard]] std::size_t quantile_slot(double share) const;

  // Upper bound in seconds of the slot of the episode of this rank (0 < share <= 1); 0 without
  // episodes, +infinity for the last slot.
  [[nodiscard]] double quantile(double share) const;

  // The longest that any of these episodes can have lasted within an interval of this length.
  [[nodiscard]] double most_seconds_within(double interval_seconds) const;

 private:
  std::array<std::uint64_t, OFFCPUD_SLOTS> slots_{};
  std::uint64_t count_ = 0;
};

}  // namespace offcpud
