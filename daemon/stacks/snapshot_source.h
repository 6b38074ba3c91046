// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"
#include "snapshot/snapshot.h"
#include "stacks/block_filter.h"

namespace offcpud {

// Whoever samples stacks, as those see it that ask for the time to come.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;

  // Tells `done` once, on any thread, what was sampled by `filter` in the next `length` (partial
  // when the daemon stops before), or why not. Never waits for it. Dropping `done` is allowed: the
  // request is then given up. Thread-safe. Error (ErrorKind::Usage): there is no such process or
  // thread.
  virtual void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                         std::function<void(Result<Snapshot>)> done) = 0;
};

}  // namespace offcpud
