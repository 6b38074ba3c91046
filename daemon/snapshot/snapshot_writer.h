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

// Takes snapshots from any thread and writes them on a thread of its own, so that nobody else ever
// waits for a disk.
class SnapshotWriter {
 public:
  static constexpr std::size_t kMostWaiting = 4;

  // The writer's thread calls `open` first and once, then `write` for each snapshot; `write` says
  // whether the snapshot is on the disk. submit() and finish() call `dropped` for each snapshot
  // that they give up.
  SnapshotWriter(const std::function<void()>& open, const std::function<bool(Snapshot)>& write,
                 std::function<void()> dropped, const std::shared_ptr<Heartbeat>& heartbeat = {});

  // As finish(0), and waits for the snapshot that is being written.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Never waits for the disk: when kMostWaiting wait, the oldest of them is dropped. The writer's
  // thread calls `written`, unless it is empty, once the snapshot is on the disk; never when
  // writing failed or the snapshot was dropped.
  void submit(Snapshot snapshot, std::function<void()> written = {});

  // Waits until `open` is done and all that were submitted are written. False: the time was not
  // enough.
  bool wait(std::chrono::milliseconds patience);

  // The same; drops the snapshots whose writing has not begun by then.
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
