// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_columns.h"

#include <algorithm>
#include <string_view>

#include "ctl/top_column_kinds.h"

namespace offcpud {
namespace {

// Columns for the reasons that are not idle-prone, in the order of the screen.
constexpr struct {
  const char* reason;
  const char* title;
} kReasons[] = {{"disk", "DISK%"},   {"lock", "LOCK%"},    {"network", "NET%"}, {"pipe", "PIPE%"},
                {"kernel", "KERN%"}, {"stopped", "STOP%"}, {"other", "OTHER%"}};

constexpr std::size_t kOldestWidth = 20;

// The blocks of the reason `kernel` without kernel threads that wait for work: the sum of
// actionable waits minus all other reasons. With those, each idle kernel thread would show 100
// percent.
double actionable_kernel(const TopRow& row) {
  double others = total_of(row.runqueue);
  for (const auto& each : kReasons) {
    if (std::string_view(each.reason) != "kernel") others += seconds_of(row.blocked, each.reason);
  }
  constexpr double kRounding = 1e-6;
  const double left = std::min(row.actionable - others, seconds_of(row.blocked, "kernel"));
  return left > kRounding ? left : 0;
}

double actionable_of(const TopRow& row, const std::string& reason) {
  return reason == "kernel" ? actionable_kernel(row) : seconds_of(row.blocked, reason);
}

std::string oldest_text(const TopRow& row) {
  if (row.oldest_reason.empty()) return "-";
  return age_cell(row.oldest, row.oldest_estimated) + " " + terminal_text(row.oldest_reason);
}

void add_reasons(std::vector<TopColumn>& columns, const TopAnswer& answer, unsigned rank) {
  for (const auto& each : kReasons) {
    const std::string reason = each.reason;
    columns.push_back(
        share_column(each.title, rank++, answer.interval,
                     [reason](const TopRow& row) { return actionable_of(row, reason); }));
  }
}

}  // namespace

// Ranks begin with 1: the column that identifies the row has rank 0 and is always shown.
std::vector<TopColumn> process_columns(const TopAnswer& answer) {
  const auto share = [&](const char* title, unsigned rank, auto seconds) {
    return share_column(title, rank, answer.interval, seconds);
  };
  std::vector<TopColumn> columns;
  columns.push_back(number_column("PID", kPidWidth, 0, &TopRow::pid));
  columns.push_back(name_column("COMM", 1, &TopRow::comm));
  columns.push_back(share("ACT%", 2, [](const TopRow& row) { return row.actionable; }));
  add_reasons(columns, answer, 10);
  columns.push_back(share("RUNQ%", 4, queued_of));
  columns.push_back(share("THROT%", 9, throttled_of));
  columns.push_back(share("RUN%", 8, [](const TopRow& row) { return row.running; }));
  columns.push_back(number_column("THR", 5, 22, &TopRow::threads));
  columns.push_back(time_column("P50", 9, &TopRow::p50));
  columns.push_back(time_column("P99", 5, &TopRow::p99));
  columns.push_back(time_column("MAX", 7, &TopRow::max));
  columns.push_back({"OLDEST", kOldestWidth, Align::Left, 6, oldest_text});
  columns.push_back(where_column(3));
  return columns;
}

std::vector<TopColumn> thread_columns(const TopAnswer& answer) {
  const auto share = [&](const char* title, unsigned rank, auto seconds) {
    return share_column(title, rank, answer.interval, seconds);
  };
  std::vector<TopColumn> columns;
  columns.push_back(number_column("TID", kPidWidth, 0, &TopRow::tid));
  columns.push_back(number_column("PID", kPidWidth, 12, &TopRow::pid));
  columns.push_back(name_column("COMM", 1, &TopRow::comm));
  columns.push_back(cpu_column(4));
  columns.push_back(state_column(2));
  columns.push_back(age_column(5));
  columns.push_back(share("ACT%", 3, [](const TopRow& row) { return row.actionable; }));
  add_reasons(columns, answer, 20);
  columns.push_back(share("RUNQ%", 6, queued_of));
  columns.push_back(share("THROT%", 14, throttled_of));
  columns.push_back(share("RUN%", 7, [](const TopRow& row) { return row.running; }));
  add_takers(columns, answer, 10);
  columns.push_back(name_column("LAST TAKER", 11, &TopRow::last_taker));
  columns.push_back(time_column("LONGEST", 8, &TopRow::longest_wait));
  columns.push_back(name_column("TAKEN BY", 9, &TopRow::longest_taker));
  columns.push_back(where_column(13));
  return columns;
}

}  // namespace offcpud
