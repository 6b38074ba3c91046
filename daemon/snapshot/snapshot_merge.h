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

// Adds up snapshots entry by entry. They may be added in any order and in partial sums; only the
// order of entries depends on it. Bounded like StackTable.
class SnapshotSum {
 public:
  explicit SnapshotSum(SnapshotFilter filter) : filter_(std::move(filter)) {}

  void add(const Snapshot& snapshot);

  // Whether some entry is in a requested cgroup, even if the filter excludes it otherwise.
  [[nodiscard]] bool has_cgroup() const { return has_cgroup_; }

  // begin and end cover all snapshots, duration is the sum, sequence that of the latest.
  [[nodiscard]] Snapshot take();

 private:
  void add_interval(const Snapshot& snapshot, bool first);

  SnapshotFilter filter_;
  StackTable table_;
  Snapshot result_;
  bool empty_ = true;
  bool has_cgroup_ = false;
  bool has_reason_intervals_ = true;  // all snapshots so far have them
};

// Selects kept snapshots: a single one, or each that overlaps [from, to), whole.
struct SnapshotRange {
  WallTime from = WallTime::min(), to = WallTime::max();
  std::optional<std::uint64_t> sequence;

  [[nodiscard]] bool contains(const SnapshotName& name) const {
    if (sequence) return *sequence == name.sequence;
    // One without length counts at its begin.
    return name.begin < to && (name.end > from || name.begin >= from);
  }
};

struct MergedSnapshots {
  Snapshot sum;
  std::size_t snapshots = 0;   // number of snapshots in the sum
  std::size_t unreadable = 0;  // number in the range whose files are damaged
  bool has_cgroup = false;  // some stack is in a requested cgroup, even if the filter excludes it
};

// Loads one snapshot at a time. If `stop` is requested it loads no more, and the sum is
// meaningless.
MergedSnapshots merge(const SnapshotLibrary& library, const SnapshotRange& range,
                      const SnapshotFilter& filter, const std::stop_token& stop = {});

}  // namespace offcpud
