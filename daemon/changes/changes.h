// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "changes/changes_scope.h"
#include "changes/range_sums.h"

namespace offcpud {

// How long threads waited at one place in two ranges. Amounts are seconds per second, that is, a
// mean number of threads.
struct ChangedWait {
  ChangePlace place;
  std::string cgroup;  // path of the one that waited longest
  double before = 0, before_error = 0;
  double after = 0, after_error = 0;   // errors: standard errors by sampling; 0: exact
  double most_before = 0;              // in the worst snapshot of the earlier range
  std::vector<std::string> functions;  // user functions, innermost first; may be empty

  [[nodiscard]] double change() const { return after - before; }
  [[nodiscard]] double error() const;  // of the change
  // The change in standard errors; nullopt: it is exact.
  [[nodiscard]] std::optional<double> sigma() const;
  // More than 3 standard errors, and more than a tenth of the larger amount.
  [[nodiscard]] bool significant() const;
};

// CPUs that a unit used on average.
struct ChangedRunning {
  std::string unit;
  double before = 0, after = 0;
};

// Two ranges compared.
struct Changes {
  ChangesScope::Range asked, asked_base;
  MeasuredRange before, after;
  // Significant ones first. In both groups known ones come before unknown ones, and then the
  // largest change first. ChangesScope::limit at most.
  std::vector<ChangedWait> rows;
  std::size_t matching = 0;             // rows before the limit
  std::size_t significant = 0;          // of these
  std::vector<ChangedRunning> running;  // changed by a tenth and 0.05 CPUs; 8 at most
  std::vector<std::string> notes;       // sentences: what differs from what was asked for
};

// Compares rates, so the ranges may differ in length. If only one range has a place, the error of
// the other is that of one wait that sampling missed. Waits for a CPU are compared if both ranges
// know them. Does not set the ranges that were asked for, nor notes about them.
Changes changes_between(const RangeSums& before, const RangeSums& after, const ChangesScope& scope);

// The command that shows where the time of a row went. Empty: a shell would not take the names
// literally.
std::string evidence_of(const ChangedWait& row, const Changes& changes);

// For people: fixed columns, one line a row. `scope`: for what was left out.
std::string changes_text(const Changes& changes, const ChangesScope& scope);

}  // namespace offcpud
