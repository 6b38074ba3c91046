// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/known_units.h"
#include "base/clock.h"
#include "http/http_message.h"
#include "http/request_worker.h"
#include "pipeline/cpu_history.h"
#include "pipeline/view.h"
#include "snapshot/snapshot_library.h"

namespace offcpud {

// Answers requests for /api/v1/changes, on the thread of `worker`. Thread-safe.
class ChangesHandler {
 public:
  // All must outlive the object and the HTTP server.
  ChangesHandler(const SnapshotLibrary& library, RequestWorker& worker, const Clock& clock,
                 IsLiveCgroup is_live);

  // `view`: of the time of the request; null before the first pass.
  [[nodiscard]] Response changes(const Request& request, std::shared_ptr<const View> view,
                                 CpuSteps cpu_history) const;

 private:
  const SnapshotLibrary& library_;
  RequestWorker& worker_;
  const Clock& clock_;
  const IsLiveCgroup is_live_;
};

}  // namespace offcpud
