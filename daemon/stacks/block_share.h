// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "stacks/block_filter.h"

namespace offcpud {

// What of a sample's weight counts where, in nanoseconds. The sample is of `ns`: what no walk over
// blocked threads has credited before. Weights of other parts follow in proportion, so their
// expectation is the part itself, as that of the weight is `ns`.
inline std::uint64_t weight_of_part(const offcpud_sample& sample, std::uint64_t part_ns) {
  if (part_ns == sample.ns) return sample.weight_ns;
  if (sample.ns == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(sample.weight_ns) *
                                    static_cast<double>(part_ns) / static_cast<double>(sample.ns));
}

// In a window that stands alone, from `begin_ns` on: it has nothing of the time before.
inline std::uint64_t weight_alone(const offcpud_sample& sample, const BlockFilter& filter,
                                  std::uint64_t begin_ns) {
  if (!filter.matches(sample) || sample.ended_ns <= begin_ns) return 0;
  return weight_of_part(sample, std::min<std::uint64_t>(sample.ns, sample.ended_ns - begin_ns));
}

// In one of windows that follow one another and together hold every wanted block once, whole. What
// a walk credits of a block that lasts is refused until the block is as long as it must be, and
// always where there is a longest one, as it may become longer; what was refused is made up for by
// the first part that is not. Only for blocks that began when the filter was in force already,
// from `filter_since_ns` on: of others nobody knows what was refused.
inline std::uint64_t weight_in_series(const offcpud_sample& sample, const BlockFilter& filter,
                                      std::uint64_t filter_since_ns) {
  const bool judges_ends = filter.max_ns != BlockFilter::kNoMaximum;
  const bool in_progress = (sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS) != 0;
  if (!filter.matches(sample) || (in_progress && judges_ends)) return 0;
  const std::uint64_t length = sample.ended_ns - sample.since_ns;
  const std::uint64_t credited_before = length - sample.ns;
  const bool refused_before = judges_ends || credited_before < filter.min_ns;
  const bool make_up = refused_before && sample.since_ns >= filter_since_ns;
  return weight_of_part(sample, make_up ? length : sample.ns);
}

}  // namespace offcpud
