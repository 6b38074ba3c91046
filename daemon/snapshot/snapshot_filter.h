// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribution/cgroup_filter.h"
#include "snapshot/snapshot.h"
#include "snapshot/stack_id.h"

namespace offcpud {

// Which entries of a snapshot are asked for, and which of their frames. Empty texts admit all.
struct SnapshotFilter {
  enum class Frames { All, User, Kernel };
  enum class Threads { All, User, Kernel };  // kernel threads are those without a user stack

  CgroupFilter cgroup;
  std::string comm;   // of the process or of the thread, in full
  std::string frame;  // part of the name of a function or object on the stack, or on the waker's
  std::optional<std::uint64_t> stack;  // number of the waiter's stack: stack_id.h
  std::optional<std::uint32_t> pid;
  std::bitset<OFFCPUD_HIST_KINDS> reasons = ~std::bitset<OFFCPUD_HIST_KINDS>();
  // false: none of the idle-prone reasons, and no kernel thread in `kernel`, which is where those
  // are that have no work.
  bool idle = true;
  Threads threads = Threads::All;
  Frames frames = Frames::All;  // the others are taken off the stacks, which then may be equal

  friend bool operator==(const SnapshotFilter&, const SnapshotFilter&) = default;
};

// A filter at work on one snapshot, which must outlive it.
class FilteredEntries {
 public:
  FilteredEntries(const Snapshot& snapshot, const SnapshotFilter& filter);

  [[nodiscard]] bool admits(const StackEntry& entry) const;

  // With the frames that are asked for.
  [[nodiscard]] StackEntry reduced(const StackEntry& entry) const;

 private:
  [[nodiscard]] bool has_frame(const StackEntry& entry) const;

  const SnapshotFilter& filter_;
  std::vector<bool> frame_matches_;    // empty: no frame is asked for
  std::optional<StackIds> stack_ids_;  // nullopt: no stack is asked for
};

}  // namespace offcpud
