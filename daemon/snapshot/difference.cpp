// SPDX-License-Identifier: Apache-2.0
#include "snapshot/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "snapshot/stack_table.h"

namespace offcpud {
namespace {

// Limited to the type's range: an earlier range of a nanosecond makes any factor possible.
std::uint64_t scaled_ns(std::uint64_t ns, double factor) {
  constexpr double kMost = 18e18;
  return static_cast<std::uint64_t>(std::min(std::round(static_cast<double>(ns) * factor), kMost));
}

}  // namespace

StackDifference difference_of(const Snapshot& before, const Snapshot& after, Normalize normalize) {
  StackDifference result;
  result.after.sequence = after.sequence;
  result.after.begin = after.begin;
  result.after.end = after.end;
  result.after.duration = after.covered();
  result.after.partial = after.partial;
  result.after.captured = after.captured;
  result.after.sampling_interval = after.sampling_interval;
  result.after.lost_of_any_ns = after.lost_of_any_ns;
  result.before_begin = before.begin;
  result.before_end = before.end;
  result.before_partial = before.partial;
  result.before_captured = before.captured;
  result.before_sampling_interval = before.sampling_interval;
  result.before_lost_of_any_ns = before.lost_of_any_ns;
  result.before_duration = before.covered();

  StackTable table;
  table.use_frames_of(after);
  for (const StackEntry& entry : after.entries) {
    StackEntry& sum = table.at(table.place_of(after, entry));
    sum.ns += entry.ns;
    sum.episodes += entry.episodes;
    sum.variance += entry.variance;
  }

  // Never scales by 1, because numbers beyond 2^53 ns would change.
  const bool scaled = normalize == Normalize::ToLater && result.before_duration.count() > 0 &&
                      result.before_duration != result.after.duration;
  const double factor = scaled ? static_cast<double>(result.after.duration.count()) /
                                     static_cast<double>(result.before_duration.count())
                               : 1.0;
  table.use_frames_of(before);
  for (const StackEntry& entry : before.entries) {
    const std::size_t place = table.place_of(before, entry);
    result.before.resize(table.size());
    StackAmount& sum = result.before[place];
    sum.ns += scaled ? scaled_ns(entry.ns, factor) : entry.ns;
    sum.episodes += entry.episodes * factor;
    sum.variance += entry.variance * factor * factor;
  }
  result.before.resize(table.size());
  table.move_to(result.after);
  return result;
}

}  // namespace offcpud
