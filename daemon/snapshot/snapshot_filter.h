// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribution/cgroup_filter.h"
#include "base/hist_kind.h"
#include "base/wait_for.h"
#include "snapshot/snapshot.h"
#include "snapshot/stack_id.h"

namespace offcpud {

// Selects entries of a snapshot, and their frames. Empty texts admit everything.
struct SnapshotFilter {
  enum class Frames { All, User, Kernel };
  enum class Threads { All, User, Kernel };  // kernel threads are those without a user stack

  CgroupFilter cgroup;
  std::string comm;   // complete name of the process or thread
  std::string frame;  // part of the name of a function or object on the stack or the waker's stack
  std::optional<std::uint64_t> stack;  // id of the waiting stack: stack_id.h
  std::optional<std::uint32_t> pid;
  std::bitset<OFFCPUD_HIST_KINDS> reasons = ~std::bitset<OFFCPUD_HIST_KINDS>();
  std::bitset<kWaitForNames.size()> wait_for = ~std::bitset<kWaitForNames.size()>();
  std::string site;  // complete name
  bool idle = true;  // false: leaves out what is_idle_block() says (base/idle_block.h)
  Threads threads = Threads::All;
  Frames frames = Frames::All;  // other frames are removed, which may make stacks equal

  // The reasons of which it may admit entries, as bits. Leaving out idle blocks excludes no reason:
  // blocks of every reason may be for a lock.
  [[nodiscard]] std::uint64_t kinds() const { return reasons.to_ullong(); }

  friend bool operator==(const SnapshotFilter&, const SnapshotFilter&) = default;
};

// Applies a filter to one snapshot, which must outlive it.
class FilteredEntries {
 public:
  FilteredEntries(const Snapshot& snapshot, const SnapshotFilter& filter);

  [[nodiscard]] bool admits(const StackEntry& entry) const;

  // The entry with the selected frames only.
  [[nodiscard]] StackEntry reduced(const StackEntry& entry) const;

 private:
  [[nodiscard]] bool has_frame(const StackEntry& entry) const;

  const SnapshotFilter& filter_;
  std::vector<bool> frame_matches_;    // empty: the filter names no frame
  std::optional<StackIds> stack_ids_;  // nullopt: the filter names no stack
};

}  // namespace offcpud
