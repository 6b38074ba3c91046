// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// Holds the last View: the pipeline's thread publishes it, any thread takes it. Thread-safe.
class ViewBoard {
 public:
  // `request_pass` makes the pipeline's thread run a pass soon; any thread must be able to call it,
  // and it must not wait. `clock` must outlive the board.
  ViewBoard(std::function<void()> request_pass, const Clock& clock)
      : request_pass_(std::move(request_pass)), clock_(clock) {}

  void publish(std::shared_ptr<const View> view);

  // Call when a pass failed: everyone who waits gets the last View at once.
  void give_up();

  // Call when there will be no more passes: from now on nobody waits.
  void close();

  // Null before the first pass.
  [[nodiscard]] std::shared_ptr<const View> last() const;

  // A View no older than `max_age`, after a pass if necessary; or the last one, if the pass fails
  // or takes longer than `patience`. Concurrent callers share one pass.
  [[nodiscard]] std::shared_ptr<const View> fresh(std::chrono::nanoseconds max_age,
                                                  std::chrono::nanoseconds patience);

 private:
  std::function<void()> request_pass_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable passed_;
  std::shared_ptr<const View> view_;  // guarded by mutex_, like the members below
  std::uint64_t passes_ = 0;          // passes that ended, whether they failed or not
  bool requested_ = false;
  bool closed_ = false;
};

}  // namespace offcpud
