// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace offcpud {
namespace {

// Columns for the reasons that are not idle-prone, in the order of the screen.
constexpr struct {
  const char* reason;
  const char* title;
} kReasons[] = {{"disk", "DISK%"},   {"lock", "LOCK%"},    {"network", "NET%"}, {"pipe", "PIPE%"},
                {"kernel", "KERN%"}, {"stopped", "STOP%"}, {"other", "OTHER%"}};

constexpr struct {
  const char* by;
  const char* title;
} kTakers[] = {{"same_cgroup", "BYSAME%"}, {"other_cgroup", "BYOTHER%"}, {"kernel", "BYKERN%"}};

constexpr std::size_t kPidWidth = 7, kCommWidth = 15, kShareWidth = 6, kTimeWidth = 8;
constexpr std::size_t kOldestWidth = 16, kCgroupWidth = 12;

double seconds_of(const SecondsByName& seconds, const std::string& name) {
  const auto found = seconds.find(name);
  return found != seconds.end() ? found->second : 0;
}

// The blocks of the reason `kernel` without kernel threads that wait for work: the sum of
// actionable waits minus all other reasons. With those, each idle kernel thread would
// show 100 percent.
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

std::string bound_text(double seconds) {
  return std::isinf(seconds) ? ">1d12h" : duration_cell(seconds);
}

std::string oldest_text(const TopRow& row) {
  if (row.oldest_reason.empty()) return "-";
  return duration_cell(row.oldest) + " " + terminal_text(row.oldest_reason);
}

std::string where_text(const TopRow& row) {
  return terminal_text(row.unit.empty() ? row.cgroup : row.unit);
}

TopColumn share_column(std::string title, unsigned rank, std::optional<double> interval,
                       std::function<double(const TopRow&)> seconds) {
  const std::size_t width = std::max(kShareWidth, title.size());
  return {std::move(title), width, Align::Right, rank,
          [interval, seconds = std::move(seconds)](const TopRow& row) {
            return share_text(seconds(row), interval);
          }};
}

TopColumn time_column(std::string title, unsigned rank, double TopRow::*seconds) {
  return {std::move(title), kTimeWidth, Align::Right, rank,
          [seconds](const TopRow& row) { return bound_text(row.*seconds); }};
}

TopColumn number_column(std::string title, std::size_t width, unsigned rank,
                        std::uint64_t TopRow::*number) {
  return {std::move(title), width, Align::Right, rank,
          [number](const TopRow& row) { return std::to_string(row.*number); }};
}

TopColumn name_column(std::string title, unsigned rank, std::string TopRow::*name) {
  return {std::move(title), kCommWidth, Align::Left, rank, [name](const TopRow& row) {
            return (row.*name).empty() ? "-" : terminal_text(row.*name);
          }};
}

TopColumn where_column(unsigned rank) {
  return {"UNIT OR CGROUP", kCgroupWidth, Align::Left, rank, where_text};
}

void add_reasons(std::vector<TopColumn>& columns, const TopAnswer& answer, unsigned rank) {
  for (const auto& each : kReasons) {
    const std::string reason = each.reason;
    bool any = false;
    for (const TopRow& row : answer.rows) any = any || actionable_of(row, reason) > 0;
    if (!any) continue;
    columns.push_back(
        share_column(each.title, rank++, answer.interval,
                     [reason](const TopRow& row) { return actionable_of(row, reason); }));
  }
}

}  // namespace

double total_of(const SecondsByName& seconds) {
  double total = 0;
  for (const auto& [name, each] : seconds) total += each;
  return total;
}

std::string share_text(double seconds, std::optional<double> interval) {
  if (!interval || *interval <= 0 || seconds <= 0) return "-";
  const double percent = 100 * seconds / *interval;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), percent < 999.95 ? "%.1f" : "%.0f", percent);
  return text.data();
}

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
  columns.push_back(share("RUNQ%", 4, [](const TopRow& row) { return total_of(row.runqueue); }));
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
  columns.push_back({"CPU", 5, Align::Right, 4, [](const TopRow& row) {
                       return std::to_string(row.cpu) + (row.pinned ? "*" : " ");
                     }});
  columns.push_back(
      {"STATE", 9, Align::Left, 2, [](const TopRow& row) { return terminal_text(row.state); }});
  columns.push_back({"FOR", kTimeWidth, Align::Right, 5, [](const TopRow& row) {
                       return row.state_seconds ? duration_cell(*row.state_seconds) : "?";
                     }});
  columns.push_back(share("ACT%", 3, [](const TopRow& row) { return row.actionable; }));
  add_reasons(columns, answer, 20);
  columns.push_back(share("RUNQ%", 6, [](const TopRow& row) { return total_of(row.runqueue); }));
  columns.push_back(share("RUN%", 7, [](const TopRow& row) { return row.running; }));
  for (const auto& taker : kTakers) {
    const std::string by = taker.by;
    columns.push_back(
        share(taker.title, 10, [by](const TopRow& row) { return seconds_of(row.kept_off, by); }));
  }
  columns.push_back(name_column("LAST TAKER", 11, &TopRow::last_taker));
  columns.push_back(time_column("LONGEST", 8, &TopRow::longest_wait));
  columns.push_back(name_column("TAKEN BY", 9, &TopRow::longest_taker));
  columns.push_back(where_column(13));
  return columns;
}

}  // namespace offcpud
