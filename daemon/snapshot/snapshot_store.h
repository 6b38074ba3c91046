// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "snapshot/snapshot_directory.h"
#include "snapshot/snapshot_library.h"

namespace offcpud {

// What is kept. A snapshot is removed when it is older than keep_for, or when it is the oldest and
// all together exceed keep_bytes.
struct SnapshotLimits {
  std::chrono::seconds keep_for{24 * 3600};
  std::uint64_t keep_bytes = std::uint64_t{256} << 20U;
};

// Callbacks of the store. Each may be empty; any thread that uses the store may call it.
struct SnapshotReports {
  std::function<void(const StoredSnapshot& stored)> written;
  std::function<void(std::uint64_t bytes)> kept;  // all files together, after each change
  // `first`: the first failure of this cause since a snapshot was written, so worth a log line.
  std::function<void(SnapshotFailure cause, const std::string& sentence, bool first)> failed;
};

// Keeps snapshots as files of gzipped pprof in a directory of its own. Problems with the disk are
// no errors for the caller: they are reported, and the next snapshot tries again, creating the
// directory again if necessary. Only one thread may call open() and put(); the rest is thread-safe.
//
// Snapshots are ordered by sequence numbers, which continue after a restart. Ages count from the
// moment when this object first saw the file, by the monotonic clock, so a step of the wall clock
// neither removes a file nor keeps it for ever.
class SnapshotStore final : public SnapshotLibrary {
 public:
  // `clock` must outlive the object. Touches no file: see open().
  SnapshotStore(std::filesystem::path directory, SnapshotLimits limits, const Clock& clock,
                SnapshotReports reports);

  // Lists the existing files and removes what a crash left behind. False: it failed and was
  // reported; put() tries again.
  bool open();

  // Assigns the sequence number and writes the snapshot, after removing what is too old and making
  // room. If the disk is full it removes the oldest. False: the snapshot is not kept, and this was
  // reported.
  bool put(Snapshot& snapshot);
  bool put(Snapshot&& snapshot) { return put(snapshot); }

  // Takes effect with the next snapshot.
  void set_limits(SnapshotLimits limits);

  [[nodiscard]] std::vector<StoredSnapshot> list() const override;
  [[nodiscard]] Result<std::optional<Snapshot>> load(std::uint64_t sequence) const override;
  [[nodiscard]] std::size_t foreign_files() const override;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Kept {
    StoredSnapshot stored;
    std::chrono::nanoseconds age_when_seen{0};
    MonotonicTime seen;
  };

  void list_files(std::shared_ptr<SnapshotDirectory> directory);
  bool write(const StoredSnapshot& stored, const std::string& bytes);
  void make_room(std::uint64_t bytes);
  std::uint64_t remove_oldest();
  void tell_kept() const;
  bool fail(const DiskProblem& problem) const;  // reports the problem; always returns false

  const std::filesystem::path path_;
  const Clock& clock_;
  const SnapshotReports reports_;

  // Guards all members below. Never held during disk access, which may hang.
  mutable std::mutex mutex_;
  SnapshotLimits limits_;
  std::shared_ptr<SnapshotDirectory> directory_;  // null: it could not be opened yet
  mutable std::map<std::uint64_t, Kept> kept_;    // by sequence
  std::uint64_t last_sequence_ = 0;
  std::size_t foreign_files_ = 0;
  mutable std::set<SnapshotFailure> told_;  // reported causes since a snapshot was last written
};

}  // namespace offcpud
