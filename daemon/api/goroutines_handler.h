// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golang/goroutine_report.h"
#include "http/http_message.h"
#include "http/request_worker.h"

namespace offcpud {

// Answers /api/v1/goroutines; docs/http.md is the reference. The answer is a Later. Thread-safe.
class GoroutinesHandler {
 public:
  // Both must outlive the object and the HTTP server. The worker should do nothing else that is
  // urgent: each request keeps it busy for more than a second.
  GoroutinesHandler(GoroutineSource& source, RequestWorker& worker)
      : source_(source), worker_(worker) {}

  [[nodiscard]] Response goroutines(const Request& request) const;

 private:
  GoroutineSource& source_;
  RequestWorker& worker_;
};

}  // namespace offcpud
