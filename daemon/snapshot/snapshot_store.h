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

// What is kept. A snapshot goes when it is older, or when it is the oldest and there are more
// bytes.
struct SnapshotLimits {
  std::chrono::seconds keep_for{24 * 3600};
  std::uint64_t keep_bytes = std::uint64_t{256} << 20U;
};

// What the store tells; each function may be empty, and is called by any thread that uses it.
struct SnapshotReports {
  std::function<void(const StoredSnapshot& stored)> written;
  std::function<void(std::uint64_t bytes)> kept;  // all files together, after each change
  // `first`: the cause is new since the last snapshot that was written, so it is worth a line.
  std::function<void(SnapshotFailure cause, const std::string& sentence, bool first)> failed;
};

// Keeps snapshots as files of gzipped pprof, one each, in a directory of its own. Nothing that
// happens to the disk is an error for the caller: it is reported, and the next snapshot tries
// again, making the directory anew where needed. open() and put() belong to one thread; the rest is
// thread-safe.
//
// Order is by sequence numbers, which go on after a restart. Age is measured by the monotonic clock
// from the moment that this object met the file, so a step of the wall clock removes nothing and
// keeps nothing for ever.
class SnapshotStore final : public SnapshotLibrary {
 public:
  // `clock` must outlive the object. Touches no file: see open().
  SnapshotStore(std::filesystem::path directory, SnapshotLimits limits, const Clock& clock,
                SnapshotReports reports);

  // Meets the files that are there and removes what a crash left behind. False: it failed, and was
  // reported; put() tries again.
  bool open();

  // Writes one snapshot, and gives it its sequence, after removing what is too old or too much for
  // it. When the disk is full the oldest go for it. False: it is not kept, which was reported.
  bool put(Snapshot& snapshot);
  bool put(Snapshot&& snapshot) { return put(snapshot); }

  // From the next snapshot on.
  void set_limits(SnapshotLimits limits);

  [[nodiscard]] std::vector<StoredSnapshot> list() const override;
  [[nodiscard]] Result<std::optional<Snapshot>> load(std::uint64_t sequence) const override;
  [[nodiscard]] std::size_t foreign_files() const override;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Kept {
    StoredSnapshot stored;
    std::chrono::nanoseconds age_when_met{0};
    MonotonicTime met;
  };

  void meet_files(std::shared_ptr<SnapshotDirectory> directory);
  bool write(const StoredSnapshot& stored, const std::string& bytes);
  void make_room(std::uint64_t bytes);
  std::uint64_t remove_oldest();
  void tell_kept() const;
  bool fail(const DiskProblem& problem) const;  // reports it; always false

  const std::filesystem::path path_;
  const Clock& clock_;
  const SnapshotReports reports_;

  // For all below. Never held while the disk is asked for anything: it may hang.
  mutable std::mutex mutex_;
  SnapshotLimits limits_;
  std::shared_ptr<SnapshotDirectory> directory_;  // null: could not be opened so far
  mutable std::map<std::uint64_t, Kept> kept_;    // by sequence
  std::uint64_t last_sequence_ = 0;
  std::size_t foreign_files_ = 0;
  mutable std::set<SnapshotFailure> told_;  // causes since the last snapshot that was written
};

}  // namespace offcpud
