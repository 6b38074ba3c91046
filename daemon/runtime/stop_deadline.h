// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "base/result.h"

namespace offcpud {

// Ends the process some time after SIGTERM or SIGINT, whatever its threads are doing, even if the
// thread that handles the signal hangs. Used by one thread.
class StopDeadline {
 public:
  // The signals must already be blocked. A thread waits for them without consuming them; it lasts
  // until the process ends, longer than this object.
  static Result<std::unique_ptr<StopDeadline>> start(std::chrono::milliseconds patience);

  // Call it when the signal was consumed. Returns the time of the signal, as far as is known.
  MonotonicTime taken();

 private:
  struct Shared;
  explicit StopDeadline(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  static void watch(Shared& shared, std::chrono::milliseconds patience);

  std::shared_ptr<Shared> shared_;
};

}  // namespace offcpud
