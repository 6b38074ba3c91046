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

// Where the pipeline's thread puts each View and any other thread takes the last one. Thread-safe.
class ViewBoard {
 public:
  // `request_pass` makes the pipeline's thread run a pass soon; it must be callable from any thread
  // and must not wait. `clock` must outlive the board.
  ViewBoard(std::function<void()> request_pass, const Clock& clock)
      : request_pass_(std::move(request_pass)), clock_(clock) {}

  void publish(std::shared_ptr<const View> view);

  // A pass failed: whoever waits gets the last View at once.
  void give_up();

  // There will be no pass any more: nobody waits from now on.
  void close();

  // Null before the first pass.
  [[nodiscard]] std::shared_ptr<const View> last() const;

  // A View no older than `max_age`, after a pass if need be; the last one when that takes longer
  // than `patience` or fails. Many callers share one pass.
  [[nodiscard]] std::shared_ptr<const View> fresh(std::chrono::nanoseconds max_age,
                                                  std::chrono::nanoseconds patience);

 private:
  std::function<void()> request_pass_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable passed_;
  std::shared_ptr<const View> view_;  // guarded by mutex_, as what follows
  std::uint64_t passes_ = 0;          // ended, well or not
  bool requested_ = false;
  bool closed_ = false;
};

}  // namespace offcpud
