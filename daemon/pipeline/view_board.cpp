// SPDX-License-Identifier: Apache-2.0
#include "pipeline/view_board.h"

namespace offcpud {

void ViewBoard::publish(std::shared_ptr<const View> view) {
  {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
    ++passes_;
    requested_ = false;
  }
  passed_.notify_all();
}

void ViewBoard::give_up() {
  {
    const std::lock_guard lock(mutex_);
    ++passes_;
    requested_ = false;
  }
  passed_.notify_all();
}

void ViewBoard::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  passed_.notify_all();
}

std::shared_ptr<const View> ViewBoard::last() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

std::shared_ptr<const View> ViewBoard::fresh(std::chrono::nanoseconds max_age,
                                             std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  if (closed_ || (view_ && clock_.now() - view_->taken < max_age)) return view_;
  if (!requested_) {
    requested_ = true;
    request_pass_();
  }
  const std::uint64_t before = passes_;
  passed_.wait_for(lock, patience, [&] { return closed_ || passes_ != before; });
  return view_;
}

}  // namespace offcpud
