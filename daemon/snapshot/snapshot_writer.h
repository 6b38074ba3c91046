// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/heartbeat.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// Takes snapshots from any thread and writes them on one of its own, so that nobody else ever
// waits for a disk.
class SnapshotWriter {
 public:
  static constexpr std::size_t kMostWaiting = 4;

  // `open` and `write` are called by the writer's thread, the former once and first; `write` says
  // whether the snapshot is on the disk. `dropped` is called by the one that submits, for each
  // snapshot that is given up because kMostWaiting newer ones wait.
  SnapshotWriter(std::function<void()> open, std::function<bool(Snapshot)> write,
                 std::function<void()> dropped, std::shared_ptr<Heartbeat> heartbeat = nullptr);

  // As finish(0), and waits for the one that is being written.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Never waits for the disk. The writer's thread calls `written`, unless it is empty, once the
  // snapshot is on the disk, and never when it failed or was dropped.
  void submit(Snapshot snapshot, std::function<void()> written = {});

  // Waits until it is open and all that were submitted are written. False: the time was not enough.
  bool wait(std::chrono::milliseconds patience);

  // The same; those that had not been begun by then are dropped.
  bool finish(std::chrono::milliseconds patience);

 private:
  struct Submitted {
    Snapshot snapshot;
    std::function<void()> written;
  };

  void run(const std::stop_token& stop);

  const std::function<void()> open_;
  const std::function<bool(Snapshot)> write_;
  const std::function<void()> dropped_;
  const std::shared_ptr<Heartbeat> heartbeat_;  // may be null

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Submitted> waiting_;
  bool busy_ = true;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
