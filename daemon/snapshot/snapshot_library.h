// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_name.h"

namespace offcpud {

struct StoredSnapshot {
  SnapshotName name;
  std::uint64_t bytes = 0;  // on the disk
  bool unreadable = false;  // an attempt to load it failed
};

// The kept snapshots, for queries. Thread-safe.
class SnapshotLibrary {
 public:
  virtual ~SnapshotLibrary() = default;

  // Ordered by sequence number, so in the order in which they were made, whatever the clock did.
  [[nodiscard]] virtual std::vector<StoredSnapshot> list() const = 0;

  // nullopt: it is no longer kept. Error: its file is damaged or cannot be read.
  [[nodiscard]] virtual Result<std::optional<Snapshot>> load(std::uint64_t sequence) const = 0;

  // Files in the directory that are not snapshots; they are left alone.
  [[nodiscard]] virtual std::size_t foreign_files() const = 0;
};

}  // namespace offcpud
