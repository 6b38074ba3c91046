// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "holders/deadlocks.h"
#include "runtime/line_budget.h"

namespace offcpud {

// One line of printable text: "deadlock of 2 threads in /system.slice/app.service: worker[101] of
// server[100] waits for a mutex that auditor[102] of server[100] holds, ...".
std::string deadlock_text(const Deadlock& deadlock);

// Logs each deadlock once, when it is found. One that was not seen for kForgotten may be logged
// again. Writes at most kLinesPerMinute lines; the rest follow later, since no deadlock ends by
// itself. Single-threaded; the clock must outlive it.
class DeadlockJournal {
 public:
  static constexpr std::uint32_t kLinesPerMinute = 5;
  static constexpr std::size_t kMostNamed = 8;  // threads of one deadlock
  static constexpr std::chrono::minutes kForgotten{10};

  explicit DeadlockJournal(const Clock& clock) : clock_(clock), budget_(clock, kLinesPerMinute) {}

  // Call it once a pass; null: there are none.
  void record(const std::vector<Deadlock>* deadlocks);

 private:
  using Id = std::pair<std::uint32_t, std::uint64_t>;  // first thread, and since when it waits
  const Clock& clock_;
  LineBudget budget_;
  std::map<Id, MonotonicTime> told_;  // when each was seen last
};

}  // namespace offcpud
