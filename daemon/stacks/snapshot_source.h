// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"
#include "snapshot/snapshot.h"
#include "stacks/block_filter.h"

namespace offcpud {

// The interface for requesting a profile of the next `length`.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;

  // Calls `done` once, on any thread, with a profile of the next `length` by `filter` (partial if
  // the daemon stops before), or with an error; never waits for it. `done` may be dropped, which
  // gives up the request. Thread-safe. Error of kind Usage: there is no such process or thread.
  virtual void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                         std::function<void(Result<Snapshot>)> done) = 0;
};

}  // namespace offcpud
