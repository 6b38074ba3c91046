// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/stall_id.h"
#include "pipeline/stall_log.h"
#include "runtime/line_budget.h"
#include "runtime/logging.h"

namespace offcpud {

// The log entry of a stall, as documented at kStallBegunId and kStallEndedId. It is one line of
// printable text, whatever bytes the names contain.
struct StallEntry {
  std::string message;
  std::vector<LogField> fields;
};
// Further stalls with the same cause: an entry says how many, and names some.
struct OtherStalls {
  std::vector<std::shared_ptr<const Stall>> named = {};
  std::uint64_t count = 0;
};
StallEntry stall_begun_entry(const Stall& stall, const OtherStalls& others = {});
StallEntry stall_ended_entry(const Stall& stall, const OtherStalls& others = {});

// Stalls with one cause: the oldest, and the others.
struct ToldStalls {
  static constexpr std::size_t kOthers = 4;  // that are named

  std::shared_ptr<const Stall> oldest = nullptr;  // null: there is none
  OtherStalls others = {};

  void add(const std::shared_ptr<const Stall>& stall);
  [[nodiscard]] std::uint64_t size() const { return oldest ? 1 + others.count : 0; }
};

// Logs incidents. An incident is all stalls at one site of one program, even if they wait for
// different locks there, as in a deadlock. Logs one line when it begins (warning), and one when
// none of its threads is stuck any more (info). A thread that joins it gets no line. Each incident
// gets at most one line in kPause, so its end may be logged late. A stall that begins before its
// end is logged belongs to the same incident. Beyond kMostIncidents at a time, each stall has lines
// of its own. Logs at most kLinesPerMinute; when the minute is over, one more line says how many
// stalls were left out. Single-threaded; the clock must outlive it.
class StallJournal {
 public:
  static constexpr std::uint32_t kLinesPerMinute = 30;
  static constexpr std::chrono::minutes kPause{1};
  static constexpr std::size_t kMostIncidents = 1'000;

  explicit StallJournal(const Clock& clock) : clock_(clock), budget_(clock, kLinesPerMinute) {}

  // Call it once a pass, even without changes: it also writes the lines that are due by now.
  void record(const StallChanges& changes);

 private:
  struct Incident {
    std::optional<MonotonicTime> told = std::nullopt;  // its last line
    bool is_told = false;                              // whether its beginning was logged
    std::uint64_t stuck = 0;                           // threads, of those in causes_
    ToldStalls begun = {}, ended = {};                 // since its end was last logged
  };

  Incident* incident_of(const std::string& cause);
  void begin(const std::shared_ptr<const Stall>& stall);
  void end(const std::shared_ptr<const Stall>& stall);
  void tell(Incident& incident);
  void log_begin(const ToldStalls& stalls);
  void log_end(const ToldStalls& stalls);

  const Clock& clock_;
  LineBudget budget_;
  std::map<std::string, Incident> incidents_;  // by cause
  // The cause of each stall in progress as it was known at its beginning. More may be known at its
  // end, and it must end in the same incident.
  std::map<StallId, std::string> causes_;
};

}  // namespace offcpud
