// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "base/result.h"

namespace offcpud {

// Ends the process a while after SIGTERM or SIGINT came, whatever its threads are at by then, also
// the one whose task it is to take the signal. Used by one thread.
class StopDeadline {
 public:
  // The signals must be blocked already: a thread watches for them, and leaves them to whoever
  // takes them. It stays until the process ends, as it does when this object is gone.
  static Result<std::unique_ptr<StopDeadline>> start(std::chrono::milliseconds patience);

  // The signal was taken. When it came, as far as is known.
  MonotonicTime taken();

 private:
  struct Shared;
  explicit StopDeadline(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  static void watch(Shared& shared, std::chrono::milliseconds patience);

  std::shared_ptr<Shared> shared_;
};

}  // namespace offcpud
