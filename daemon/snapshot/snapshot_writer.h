// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "snapshot/snapshot.h"

namespace offcpud {

// Takes snapshots from the daemon's thread and writes them on one of its own, so that no pass ever
// waits for a disk.
class SnapshotWriter {
 public:
  static constexpr std::size_t kMostWaiting = 4;

  // `write` is called by the writer's thread; `dropped` by the one that submits, for each snapshot
  // that is given up because kMostWaiting newer ones wait.
  SnapshotWriter(std::function<void(Snapshot)> write, std::function<void()> dropped);

  // As finish(0): waits for the one that is being written.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Never waits for the disk.
  void submit(Snapshot snapshot);

  // Waits until all that were submitted are written. False: the time was not enough, and those that
  // had not been begun are dropped.
  bool finish(std::chrono::milliseconds patience);

 private:
  void run(const std::stop_token& stop);

  const std::function<void(Snapshot)> write_;
  const std::function<void()> dropped_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Snapshot> waiting_;
  bool writing_ = false;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
