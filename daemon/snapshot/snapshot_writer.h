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

// Writes snapshots on its own thread, so that no other thread waits for a disk. Any thread
// may submit them.
class SnapshotWriter {
 public:
  static constexpr std::size_t kMostWaiting = 4;

  // The writer's thread calls `open` once, first, and then `write` for each snapshot; `write`
  // returns whether it is on the disk. The submitting thread calls `dropped` for each snapshot that
  // is dropped because kMostWaiting newer ones wait.
  SnapshotWriter(std::function<void()> open, std::function<bool(Snapshot)> write,
                 std::function<void()> dropped, std::shared_ptr<Heartbeat> heartbeat = nullptr);

  // Like finish(0), but waits for the snapshot that is being written.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Never waits for the disk. The writer's thread calls `written`, if set, once the snapshot is on
  // the disk; never if writing failed or it was dropped.
  void submit(Snapshot snapshot, std::function<void()> written = {});

  // Waits until `open` has returned and all submitted snapshots are written. False: they are not
  // within `patience`.
  bool wait(std::chrono::milliseconds patience);

  // Like wait(), then drops snapshots whose writing has not begun, and ends the thread.
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
