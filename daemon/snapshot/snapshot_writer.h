// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/heartbeat.h"
#include "base/worker.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// Writes snapshots on its own thread, so that no other thread waits for a disk. Any thread may
// submit them.
class SnapshotWriter {
 public:
  static constexpr std::size_t kMostWaiting = 4;

  // The writer's thread calls `open` once, first, and then `write` for each snapshot; `write`
  // returns whether it is on the disk. submit() and finish() call `dropped` for each snapshot that
  // they drop.
  SnapshotWriter(const std::function<void()>& open, const std::function<bool(Snapshot)>& write,
                 std::function<void()> dropped, const std::shared_ptr<Heartbeat>& heartbeat = {});

  // Like finish(0), but waits for the snapshot that is being written.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Never waits for the disk: when kMostWaiting wait, the oldest of them is dropped. The writer's
  // thread calls `written`, if set, once the snapshot is on the disk; never if writing failed or it
  // was dropped.
  void submit(Snapshot snapshot, std::function<void()> written = {});

  // Waits until `open` has returned and all submitted snapshots are written. False: they are not
  // within `patience`.
  bool wait(std::chrono::milliseconds patience);

  // Like wait(), then drops snapshots whose writing has not begun.
  bool finish(std::chrono::milliseconds patience);

 private:
  struct Submitted {
    Snapshot snapshot;
    std::function<void()> written;
  };

  const std::function<void()> dropped_;
  Worker<Submitted> worker_;
};

}  // namespace offcpud
