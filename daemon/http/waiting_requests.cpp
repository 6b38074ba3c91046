// SPDX-License-Identifier: Apache-2.0
#include "http/waiting_requests.h"

#include <microhttpd.h>

#include <utility>

namespace offcpud {
namespace {

Response given_up() {
  return {.status = 503,
          .content_type = "application/json",
          .body = std::string("{\"error\": \"the request was given up; try again\"}\n")};
}

}  // namespace

// One suspended connection, until the first answer resumes it; later answers are ignored.
class WaitingRequests::Waiting {
 public:
  explicit Waiting(MHD_Connection* connection) : connection_(connection) {}

  void resume(Later::Make make) {
    const std::lock_guard lock(mutex_);
    if (connection_ == nullptr) return;
    make_ = std::move(make);
    ::MHD_resume_connection(std::exchange(connection_, nullptr));
  }

  Later::Make take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(make_, nullptr);
  }

 private:
  std::mutex mutex_;
  MHD_Connection* connection_;
  Later::Make make_;
};

bool WaitingRequests::suspend(MHD_Connection* connection, const Later& later) {
  std::shared_ptr<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || waiting_.size() >= most_) return false;
    waiting = std::make_shared<Waiting>(connection);
    waiting_.emplace(connection, waiting);
    ::MHD_suspend_connection(connection);
  }
  try {
    // Owned by `done` and its copies: when the last copy is destroyed, nobody can answer any more.
    const std::shared_ptr<void> promise(nullptr, [waiting](void*) { waiting->resume(&given_up); });
    later.start([waiting, promise](Later::Make make) { waiting->resume(std::move(make)); });
  } catch (...) {
    waiting->resume(&given_up);  // an exception could not end a suspended connection
  }
  return true;
}

Later::Make WaitingRequests::take(MHD_Connection* connection) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(connection);
  if (found == waiting_.end()) return nullptr;
  Later::Make make = found->second->take();
  waiting_.erase(found);
  return make;
}

void WaitingRequests::forget(MHD_Connection* connection) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(connection);
}

void WaitingRequests::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [connection, waiting] : waiting_) waiting->resume(&given_up);
}

}  // namespace offcpud
