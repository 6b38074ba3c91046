// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_writer.h"

#include <utility>

namespace offcpud {

SnapshotWriter::SnapshotWriter(std::function<void(Snapshot)> write, std::function<void()> dropped)
    : write_(std::move(write)),
      dropped_(std::move(dropped)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

SnapshotWriter::~SnapshotWriter() {
  (void)finish(std::chrono::milliseconds(0));
}

void SnapshotWriter::submit(Snapshot snapshot) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    full = waiting_.size() == kMostWaiting;
    if (full) waiting_.pop_front();
    waiting_.push_back(std::move(snapshot));
  }
  changed_.notify_all();
  if (full) dropped_();
}

bool SnapshotWriter::finish(std::chrono::milliseconds patience) {
  std::size_t lost = 0;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return waiting_.empty() && !writing_; });
    lost = waiting_.size();
    waiting_.clear();
    if (lost == 0 && !writing_) return true;
  }
  for (std::size_t i = 0; i < lost; ++i) dropped_();
  return false;
}

void SnapshotWriter::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    Snapshot next = std::move(waiting_.front());
    waiting_.pop_front();
    writing_ = true;
    lock.unlock();
    write_(std::move(next));
    lock.lock();
    writing_ = false;
    changed_.notify_all();
  }
}

}  // namespace offcpud
