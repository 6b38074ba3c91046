// SPDX-License-Identifier: Apache-2.0
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/printable.h"
#include "base/utc.h"
#include "changes/changes.h"

namespace offcpud {
namespace {

constexpr std::size_t kUnitColumns = 26, kForColumns = 9, kSiteColumns = 30, kNumberColumns = 8;

// "2026-11-24 17:23:15 to 17:33:20"; the date only once.
std::string range_text(const MeasuredRange& range) {
  const std::string begin = moment_text(range.begin), end = moment_text(range.end);
  const bool same_day = begin.substr(0, 10) == end.substr(0, 10);
  return begin + " to " + (same_day ? clock_text(range.end) : end) + " UTC (" +
         duration_text(range.covered) + ")";
}

std::string factor_of(const ChangedWait& row) {
  if (row.before <= 0) return "new";
  if (row.after <= 0) return "ended";
  return factor_text(row.before, row.after);
}

// A path that is too long is told by its end.
std::string unit_cell(const std::string& unit) {
  const std::string text = printable(unit);
  const bool is_path = text.starts_with('/');
  return left_aligned(is_path ? cut_front(text, kUnitColumns) : cut(text, kUnitColumns),
                      kUnitColumns);
}

std::string row_text(const ChangedWait& row) {
  const double unsure = row.error();
  const std::string cells[] = {
      unit_cell(row.place.unit),
      left_aligned(kChangeKindNames[row.place.kind], kForColumns),
      left_aligned(cut(row.place.site.empty() ? "-" : printable(row.place.site), kSiteColumns),
                   kSiteColumns),
      right_aligned(threads_text(row.before), kNumberColumns),
      right_aligned(threads_text(row.after), kNumberColumns),
      right_aligned(change_text(row.change()), kNumberColumns),
      right_aligned(unsure > 0 ? threads_text(unsure) : "exact", kNumberColumns),
      right_aligned(factor_of(row), kNumberColumns)};
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : " ") + cell;
  return line + "\n";
}

std::string heading() {
  return left_aligned("UNIT", kUnitColumns) + " " + left_aligned("FOR", kForColumns) + " " +
         left_aligned("SITE", kSiteColumns) + " " + right_aligned("BEFORE", kNumberColumns) + " " +
         right_aligned("NOW", kNumberColumns) + " " + right_aligned("CHANGE", kNumberColumns) +
         " " + right_aligned("ERROR", kNumberColumns) + " " +
         right_aligned("TIMES", kNumberColumns) + "\n";
}

std::string running_text(const std::vector<ChangedRunning>& running) {
  constexpr std::size_t kMost = 3;
  std::string line;
  for (std::size_t i = 0; i < running.size() && i < kMost; ++i) {
    line += (i == 0 ? "CPUs used: " : ", ") + printable(running[i].unit) + " " +
            threads_text(running[i].before) + " → " + threads_text(running[i].after);
  }
  return line.empty() ? line : line + "\n";
}

std::string left_out_text(const Changes& changes) {
  const auto rate = [](double ns, const MeasuredRange& range) {
    return range.covered.count() > 0 ? ns / static_cast<double>(range.covered.count()) : 0;
  };
  const auto part = [&](const char* what, double MeasuredRange::*ns) {
    return std::string(what) + threads_text(rate(changes.before.*ns, changes.before)) + " → " +
           threads_text(rate(changes.after.*ns, changes.after));
  };
  return "left out as idle: " + part("work ", &MeasuredRange::work_ns) + ", " +
         part("timer ", &MeasuredRange::timer_ns) + ", own children " +
         part("", &MeasuredRange::child_ns) + "; --idle compares them, too\n";
}

}  // namespace

std::string changes_text(const Changes& changes, const ChangesScope& scope) {
  std::string text =
      "now:    " + range_text(changes.after) + "\nbefore: " + range_text(changes.before) + "\n";
  for (const std::string& note : changes.notes) text += "note: " + note + "\n";
  std::size_t shown = 0;
  const ChangedWait* first = nullptr;
  for (const ChangedWait& row : changes.rows) {
    if (!row.significant()) break;
    if (shown++ == 0) {
      text += "threads that wait, on average:\n" + heading();
      first = &row;
    }
    text += row_text(row);
  }
  if (shown == 0) {
    text += "nothing waits longer or shorter than before, beyond 3 standard errors and a tenth\n";
  }
  text += running_text(changes.running);
  if (changes.significant > shown) {
    text += count_text(changes.significant - shown) + " more rows changed; --limit " +
            std::to_string(changes.significant) + " shows all\n";
  }
  const std::size_t same = changes.matching - changes.significant;
  if (same > 0) {
    text += counted(same, "row") + " did not change beyond 3 standard errors and a tenth\n";
  }
  if (!scope.idle) text += left_out_text(changes);
  const std::string evidence = first ? evidence_of(*first, changes) : std::string();
  return evidence.empty() ? text : text + "evidence: " + evidence + "\n";
}

}  // namespace offcpud
