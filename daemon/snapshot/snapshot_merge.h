// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "snapshot/snapshot_filter.h"
#include "snapshot/snapshot_library.h"
#include "snapshot/stack_table.h"

namespace offcpud {

// Adds snapshots up, entry by entry: in any order, and in parts, with the same result but for the
// order of entries. Bounded as StackTable is.
class SnapshotSum {
 public:
  explicit SnapshotSum(SnapshotFilter filter) : filter_(std::move(filter)) {}

  void add(const Snapshot& snapshot);

  // Whether some entry was of a cgroup that is asked for, whatever else is.
  [[nodiscard]] bool has_cgroup() const { return has_cgroup_; }

  // begin and end are those of the outermost, duration the sum, sequence that of the latest.
  [[nodiscard]] Snapshot take();

 private:
  SnapshotFilter filter_;
  StackTable table_;
  Snapshot result_;
  bool empty_ = true;
  bool has_cgroup_ = false;
};

// Which of the kept snapshots: all that overlap [from, to), whole, or one of them.
struct SnapshotRange {
  WallTime from = WallTime::min(), to = WallTime::max();
  std::optional<std::uint64_t> sequence;

  [[nodiscard]] bool contains(const SnapshotName& name) const {
    if (sequence) return *sequence == name.sequence;
    // One without length is at its begin.
    return name.begin < to && (name.end > from || name.begin >= from);
  }
};

struct MergedSnapshots {
  Snapshot sum;
  std::size_t snapshots = 0;   // in the sum
  std::size_t unreadable = 0;  // in the range, but their files are damaged
  bool has_cgroup = false;     // some stack is of a cgroup that is asked for, whatever else is
};

// One at a time is in memory. When `stop` asks for it no further one is read, and the sum means
// nothing.
MergedSnapshots merge(const SnapshotLibrary& library, const SnapshotRange& range,
                      const SnapshotFilter& filter, const std::stop_token& stop = {});

}  // namespace offcpud
