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

// The log entry of a stall, as documented at kStallBegunId and kStallEndedId. It is one line that a
// terminal shows as it is, whatever bytes the names contain.
struct StallEntry {
  std::string message;
  std::vector<LogField> fields;
};
// Stalls with the same cause, which an entry counts, and of which it names some.
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

// Logs incidents: all stalls at one site of one program, even if they wait for different locks
// there, as in a deadlock. One line when an incident begins (warning), and one when nobody is stuck
// any more (info), but of one cause at most one line in kPause: threads that join it have none, and
// what begins again before its end is told is the same incident. At most kLinesPerMinute; when the
// minute is over, one more line says how many stalls were left out. Of more than kMostIncidents at
// a time each stall has lines of its own. Single-threaded; the clock must outlive it.
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
    bool is_told = false;                              // that it began
    std::uint64_t stuck = 0;                           // threads, of those in causes_
    ToldStalls begun = {}, ended = {};                 // since its end was told last
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
  // Of stalls in progress, the cause as it was when they began: it may be known better by the end.
  std::map<StallId, std::string> causes_;
};

}  // namespace offcpud
