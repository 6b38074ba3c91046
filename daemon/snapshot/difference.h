// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// The amounts of one stack.
struct StackAmount {
  std::uint64_t ns = 0;
  double episodes = 0;
  double variance = 0;  // as StackEntry::variance

  friend bool operator==(const StackAmount&, const StackAmount&) = default;
};

// Two ranges compared stack by stack. A stack that only one range has is 0 in the other.
struct StackDifference {
  Snapshot after;  // every stack of either range, with its amounts in the later range
  std::vector<StackAmount> before;  // for each entry, its amounts in the earlier range
  WallTime before_begin, before_end;
  std::chrono::nanoseconds before_duration{0};  // as Snapshot::covered()
  bool before_partial = false;                  // as in Snapshot, like the next ones
  std::vector<std::string> before_captured;
  std::chrono::nanoseconds before_sampling_interval{0};
  std::uint64_t before_lost_of_any_ns = 0;
};

enum class Normalize {
  No,
  ToLater,  // scales the earlier range to the length of the later, so that rates are compared
};

// Compares both snapshots as they are; SnapshotFilter selects entries beforehand.
StackDifference difference_of(const Snapshot& before, const Snapshot& after, Normalize normalize);

}  // namespace offcpud
