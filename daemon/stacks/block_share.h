// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "stacks/block_filter.h"
#include "stacks/sampled_block.h"

namespace offcpud {

// The weight of a part of a sample, in nanoseconds. The sample covers `ns`, the part of the block
// that no earlier walk over blocked threads accounted; the expectation of its weight is `ns`. A
// part's weight is proportional, so its expectation is `part_ns`.
inline std::uint64_t weight_of_part(const offcpud_sample& sample, std::uint64_t part_ns) {
  if (part_ns == sample.ns) return sample.weight_ns;
  const std::uint64_t length_ns = sample.ended_ns - sample.since_ns;
  if (sample.whole_ns <= length_ns) return part_ns;  // sampled with certainty, or in progress
  const double weight = static_cast<double>(sample.whole_ns) * static_cast<double>(part_ns) /
                        static_cast<double>(length_ns);
  // Numbers of the kernel's programs are far below; this keeps the conversion defined for any.
  return static_cast<std::uint64_t>(std::min(weight, 0x1p62));
}

// The weight in a window of its own that begins at `begin_ns`: earlier time does not count.
inline std::uint64_t weight_alone(const offcpud_sample& sample, const BlockFilter& filter,
                                  std::uint64_t begin_ns) {
  if (!filter.matches(sample) || sample.ended_ns <= begin_ns) return 0;
  return weight_of_part(sample, std::min<std::uint64_t>(sample.ns, sample.ended_ns - begin_ns));
}

// The weight in one of several windows that follow one another and together count every wanted
// block once, whole. A part of a block in progress does not count before the block reaches min_ns,
// nor at all if max_ns is set, because the block may still exceed it. The first part that counts
// makes up for those before it, if the block began after the filter took effect, at
// `filter_since_ns`; for other blocks that time is unknown.
inline std::uint64_t weight_in_series(const offcpud_sample& sample, const BlockFilter& filter,
                                      std::uint64_t filter_since_ns) {
  const bool judges_ends = filter.max_ns != BlockFilter::kNoMaximum;
  if (!filter.matches(sample) || (is_in_progress(sample) && judges_ends)) return 0;
  const std::uint64_t length = sample.ended_ns - sample.since_ns;
  const std::uint64_t accounted_before = length - sample.ns;
  const bool refused_before = judges_ends || accounted_before < filter.min_ns;
  const bool make_up = refused_before && sample.since_ns >= filter_since_ns;
  return weight_of_part(sample, make_up ? length : sample.ns);
}

}  // namespace offcpud
