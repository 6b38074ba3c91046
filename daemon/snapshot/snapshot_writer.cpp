// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_writer.h"

#include <utility>

namespace offcpud {

SnapshotWriter::SnapshotWriter(const std::function<void()>& open,
                               const std::function<bool(Snapshot)>& write,
                               std::function<void()> dropped,
                               const std::shared_ptr<Heartbeat>& heartbeat)
    : dropped_(std::move(dropped)),
      worker_(
          "offcpud-writer",
          [write, heartbeat](Submitted next, const std::stop_token&) {
            const PieceOfWork piece(heartbeat, "writing a snapshot");
            if (write(std::move(next.snapshot)) && next.written) next.written();
          },
          [open, heartbeat] {
            const PieceOfWork piece(heartbeat, "listing the kept snapshots");
            open();
          }) {}

SnapshotWriter::~SnapshotWriter() {
  (void)finish(std::chrono::milliseconds(0));
}

void SnapshotWriter::submit(Snapshot snapshot, std::function<void()> written) {
  const bool full = worker_.change([&](auto& waiting) {
    const bool was_full = waiting.size() == kMostWaiting;
    if (was_full) waiting.pop_front();
    waiting.push_back({std::move(snapshot), std::move(written)});
    return was_full;
  });
  if (full) dropped_();
}

bool SnapshotWriter::wait(std::chrono::milliseconds patience) {
  return worker_.wait_until_idle(patience);
}

bool SnapshotWriter::finish(std::chrono::milliseconds patience) {
  const bool done = wait(patience);
  const auto lost = worker_.change([](auto& waiting) { return std::exchange(waiting, {}); });
  for (std::size_t i = 0; i < lost.size(); ++i) dropped_();
  return done;
}

}  // namespace offcpud
