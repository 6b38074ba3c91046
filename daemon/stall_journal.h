// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/stall_log.h"
#include "runtime/line_budget.h"
#include "runtime/logging.h"

namespace offcpud {

// The log entry of a stall, as documented at kStallBegunId and kStallEndedId. It is one line that a
// terminal shows as it is, whatever bytes the names contain.
struct StallEntry {
  std::string message;
  std::vector<LogField> fields;
};
StallEntry stall_begun_entry(const Stall& stall);
StallEntry stall_ended_entry(const Stall& stall);

// Logs stalls as they begin (warning) and end (info), at most kLinesPerMinute; when the minute is
// over, one more line says how many were left out. Single-threaded; the clock must outlive it.
class StallJournal {
 public:
  static constexpr std::uint32_t kLinesPerMinute = 30;

  explicit StallJournal(const Clock& clock) : budget_(clock, kLinesPerMinute) {}

  // Call it once a pass, even without changes: it also writes the line about stalls left out.
  void record(const StallChanges& changes);

 private:
  LineBudget budget_;
};

}  // namespace offcpud
