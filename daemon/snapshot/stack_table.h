// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// Entries of several snapshots with one common table of frames; entries of the same place and
// subject are one. If the rules changed between two snapshots, they may give a stack another `for`
// or site; then it has two entries. Bounded: once there are `most_entries`, further ones are summed
// by reason and by what they are for, in entries whose comm and cgroup are "(other)", so totals
// remain true. Single-threaded.
class StackTable {
 public:
  static constexpr std::size_t kMostEntries = 100'000;

  explicit StackTable(std::size_t most_entries = kMostEntries);
  StackTable(const StackTable&) = delete;  // the sets below refer to this object
  StackTable& operator=(const StackTable&) = delete;

  // Call it before entries of another snapshot are added.
  void use_frames_of(const Snapshot& snapshot);

  // The index of the entry for the same place and subject; a new one has no time yet. `entry`
  // belongs to the snapshot passed to use_frames_of().
  std::size_t place_of(const Snapshot& snapshot, const StackEntry& entry);

  StackEntry& at(std::size_t place) { return entries_[place]; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // Moves frames and entries out; the table must not be used afterwards.
  void move_to(Snapshot& snapshot);

 private:
  using Ids = std::vector<std::uint32_t>;
  struct HashFrame {
    std::size_t operator()(const StackFrame& frame) const;
  };
  struct HashPlace {
    const StackTable* table;
    std::size_t operator()(std::size_t place) const;
  };
  struct SamePlace {
    const StackTable* table;
    bool operator()(std::size_t a, std::size_t b) const;
  };

  std::size_t insert(StackEntry entry);
  bool translate(const Snapshot& snapshot, Ids& ids, bool may_add);

  std::size_t most_entries_;
  std::unordered_map<StackFrame, std::uint32_t, HashFrame> frame_ids_;
  Ids translation_;  // frame of the current snapshot -> ours + 1; 0: not needed yet
  std::vector<StackEntry> entries_;
  std::unordered_set<std::size_t, HashPlace, SamePlace> places_;
};

}  // namespace offcpud
