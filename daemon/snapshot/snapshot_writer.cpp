// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_writer.h"

#include <utility>

#include "base/thread_start.h"

namespace offcpud {

SnapshotWriter::SnapshotWriter(std::function<void()> open, std::function<bool(Snapshot)> write,
                               std::function<void()> dropped, std::shared_ptr<Heartbeat> heartbeat)
    : open_(std::move(open)),
      write_(std::move(write)),
      dropped_(std::move(dropped)),
      heartbeat_(std::move(heartbeat)),
      thread_(start_thread("offcpud-writer", [this](const std::stop_token& stop) { run(stop); })) {}

SnapshotWriter::~SnapshotWriter() {
  (void)finish(std::chrono::milliseconds(0));
}

void SnapshotWriter::submit(Snapshot snapshot, std::function<void()> written) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    full = waiting_.size() == kMostWaiting;
    if (full) waiting_.pop_front();
    waiting_.push_back({std::move(snapshot), std::move(written)});
  }
  changed_.notify_all();
  if (full) dropped_();
}

bool SnapshotWriter::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return waiting_.empty() && !busy_; });
}

bool SnapshotWriter::finish(std::chrono::milliseconds patience) {
  const bool done = wait(patience);
  std::size_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    lost = waiting_.size();
    waiting_.clear();
  }
  for (std::size_t i = 0; i < lost; ++i) dropped_();
  return done;
}

void SnapshotWriter::run(const std::stop_token& stop) {
  {
    const PieceOfWork piece(heartbeat_, "meeting the kept snapshots");
    open_();
  }
  std::unique_lock lock(mutex_);
  busy_ = false;
  changed_.notify_all();
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    Submitted next = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    {
      const PieceOfWork piece(heartbeat_, "writing a snapshot");
      if (write_(std::move(next.snapshot)) && next.written) next.written();
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace offcpud
