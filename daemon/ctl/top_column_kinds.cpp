// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_column_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/no_unit.h"

namespace offcpud {
namespace {

constexpr struct {
  const char* by;
  const char* title;
} kTakers[] = {{"same_cgroup", "BYSAME%"}, {"other_cgroup", "BYOTHER%"}, {"kernel", "BYKERN%"}};

constexpr std::size_t kShareWidth = 6, kTimeWidth = 11, kCommWidth = 15, kCgroupWidth = 12;

std::string bound_text(double seconds) {
  return std::isinf(seconds) ? "> 1 d 12 h" : duration_cell(seconds);
}

}  // namespace

double seconds_of(const SecondsByName& seconds, const std::string& name) {
  const auto found = seconds.find(name);
  return found != seconds.end() ? found->second : 0;
}

double total_of(const SecondsByName& seconds) {
  double total = 0;
  for (const auto& [name, each] : seconds) total += each;
  return total;
}

double throttled_of(const TopRow& row) {
  return seconds_of(row.runqueue, "throttled");
}

double queued_of(const TopRow& row) {
  double seconds = 0;
  for (const auto& [cause, each] : row.runqueue) {
    if (cause != "throttled") seconds += each;
  }
  return seconds;
}

std::string percent_cell(double seconds, std::optional<double> interval) {
  if (!interval || *interval <= 0 || seconds <= 0) return "-";
  const double percent = 100 * seconds / *interval;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), percent < 999.95 ? "%.1f" : "%.0f", percent);
  return text.data();
}

std::string unit_or_cgroup(const TopRow& row) {
  if (row.unit.empty() && row.cgroup == "/") return kNoUnit;
  return terminal_text(row.unit.empty() ? row.cgroup : row.unit);
}

TopColumn share_column(std::string title, unsigned rank, std::optional<double> interval,
                       std::function<double(const TopRow&)> seconds) {
  const std::size_t width = std::max(kShareWidth, title.size());
  return {std::move(title), width, Align::Right, rank,
          [interval, seconds = std::move(seconds)](const TopRow& row) {
            return percent_cell(seconds(row), interval);
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
  return {std::move(title), kCommWidth, Align::Name, rank, [name](const TopRow& row) {
            return (row.*name).empty() ? "-" : terminal_text(row.*name);
          }};
}

TopColumn where_column(unsigned rank) {
  return {"UNIT OR CGROUP", kCgroupWidth, Align::Name, rank, unit_or_cgroup};
}

TopColumn age_column(unsigned rank) {
  return {"AGE", kTimeWidth, Align::Right, rank, [](const TopRow& row) {
            return row.state_seconds ? age_cell(*row.state_seconds, row.state_estimated)
                                     : std::string("?");
          }};
}

TopColumn cpu_column(unsigned rank) {
  return {"CPU", 5, Align::Right, rank,
          [](const TopRow& row) { return std::to_string(row.cpu) + (row.pinned ? "*" : " "); }};
}

TopColumn state_column(unsigned rank) {
  return {"STATE", 9, Align::Left, rank,
          [](const TopRow& row) { return terminal_text(row.state); }};
}

void add_takers(std::vector<TopColumn>& columns, const TopAnswer& answer, unsigned rank) {
  for (const auto& taker : kTakers) {
    const std::string by = taker.by;
    columns.push_back(share_column(taker.title, rank, answer.interval, [by](const TopRow& row) {
      return seconds_of(row.kept_off, by);
    }));
  }
}

}  // namespace offcpud
