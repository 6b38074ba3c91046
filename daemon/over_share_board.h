// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "api/status_report.h"
#include "base/clock.h"
#include "mappings/fair_share.h"
#include "metrics/self_metrics.h"

namespace offcpud {

// Reports which processes have more mappings than their share: in the status, in the metrics, and
// in the log once for each user. Thread-safe.
class OverShareBoard {
 public:
  OverShareBoard(SelfMetrics& metrics, const Clock& clock) : metrics_(metrics), clock_(clock) {}

  // `processes`: all of them, the largest first.
  void post(const std::vector<OverShare>& processes, std::uint64_t left_out);

  // The largest of the processes posted last.
  [[nodiscard]] std::vector<OverShareStatus> current() const;

 private:
  void log_new_users(const std::vector<OverShare>& processes);

  SelfMetrics& metrics_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<OverShareStatus> current_;
  // users, and when each was last seen
  std::map<std::optional<std::uint32_t>, MonotonicTime> seen_;
};

}  // namespace offcpud
