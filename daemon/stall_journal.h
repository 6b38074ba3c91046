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

// What the log says of a stall: docs of kStallBegunId and kStallEndedId. Whatever the names in it
// hold, it is one line that a terminal shows as it is.
struct StallEntry {
  std::string message;
  std::vector<LogField> fields;
};
StallEntry stall_begun_entry(const Stall& stall);
StallEntry stall_ended_entry(const Stall& stall);

// Logs stalls as they begin (warning) and end (info), kLinesPerMinute at most; a line that tells
// how many were left out follows when the minute is over. Single-threaded; the clock must outlive
// it.
class StallJournal {
 public:
  static constexpr std::uint32_t kLinesPerMinute = 30;

  explicit StallJournal(const Clock& clock) : budget_(clock, kLinesPerMinute) {}

  // Once a pass, also without changes: the line about what was left out waits for that.
  void record(const StallChanges& changes);

 private:
  LineBudget budget_;
};

}  // namespace offcpud
