// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "snapshot/snapshot_library.h"

namespace offcpud::test {

// Snapshots in memory, one of which may be damaged.
class MemoryLibrary : public SnapshotLibrary {
 public:
  [[nodiscard]] std::vector<StoredSnapshot> list() const override {
    std::vector<StoredSnapshot> all;
    for (const auto& [sequence, snapshot] : snapshots) {
      all.push_back({SnapshotName::of(snapshot), 1'000, sequence == damaged});
    }
    return all;
  }
  [[nodiscard]] Result<std::optional<Snapshot>> load(std::uint64_t sequence) const override {
    if (on_load) on_load();
    if (sequence == damaged) return Error("damaged");
    const auto found = snapshots.find(sequence);
    if (found == snapshots.end()) return std::optional<Snapshot>();
    return std::optional<Snapshot>(found->second);
  }
  [[nodiscard]] std::size_t foreign_files() const override { return 2; }

  std::map<std::uint64_t, Snapshot> snapshots;
  std::uint64_t damaged = 0;
  std::function<void()> on_load;
};

}  // namespace offcpud::test
