// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// What one stack took.
struct StackAmount {
  std::uint64_t ns = 0;
  double episodes = 0;
  double variance = 0;  // as StackEntry::variance

  friend bool operator==(const StackAmount&, const StackAmount&) = default;
};

// Two ranges stack by stack. A stack that is in one of them only has nothing in the other.
struct StackDifference {
  Snapshot after;                   // every stack of either range, with what it took in the later
  std::vector<StackAmount> before;  // of entry i: what it took in the earlier
  WallTime before_begin, before_end;
  std::chrono::nanoseconds before_duration{0};  // as Snapshot::covered()
  bool before_partial = false;                  // as in Snapshot, like the next ones
  std::vector<std::string> before_captured;
  std::chrono::nanoseconds before_sampling_interval{0};
};

enum class Normalize {
  No,
  ToLater,  // the earlier range's amounts are scaled to the length of the later: rates compare
};

// Both snapshots as they are; see SnapshotFilter for what goes in.
StackDifference difference_of(const Snapshot& before, const Snapshot& after, Normalize normalize);

}  // namespace offcpud
