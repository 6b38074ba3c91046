// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "http/http_message.h"
#include "http/request_worker.h"
#include "snapshot/snapshot_library.h"
#include "stacks/snapshot_source.h"

namespace offcpud {

// Answers requests for snapshots; docs/http.md is the reference. Answers that read files or wait
// for a profile are a Later. Thread-safe.
class SnapshotHandlers {
 public:
  // All must outlive the object and the HTTP server.
  SnapshotHandlers(const SnapshotLibrary& library, SnapshotSource& source, RequestWorker& worker,
                   const Clock& clock);

  [[nodiscard]] Response list(const Request& request) const;        // /api/v1/snapshots
  [[nodiscard]] Response merge(const Request& request) const;       // .../merge
  [[nodiscard]] Response difference(const Request& request) const;  // .../difference
  [[nodiscard]] Response profile(const Request& request) const;     // /debug/pprof/offcpu

 private:
  const SnapshotLibrary& library_;
  SnapshotSource& source_;
  RequestWorker& worker_;
  const Clock& clock_;
};

}  // namespace offcpud
