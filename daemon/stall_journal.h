// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
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
// `others`: stalls with the same cause, which the entry counts and names.
using OtherStalls = std::span<const Stall* const>;
StallEntry stall_begun_entry(const Stall& stall, OtherStalls others = {});
StallEntry stall_ended_entry(const Stall& stall, OtherStalls others = {});

// Logs stalls as they begin (warning) and end (info): one line for all stalls of one pass at one
// site of one program, even if they wait for different locks there, as in a deadlock. At most
// kLinesPerMinute; when the minute is over, one more line says how many stalls were left out.
// Single-threaded; the clock must outlive it.
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
