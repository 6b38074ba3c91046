// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/amount_text.h"
#include "ctl/top_column_kinds.h"
#include "ctl/top_columns.h"

namespace offcpud {
namespace {

constexpr std::size_t kForWidth = 8, kSiteWidth = 27, kLongestWidth = 12;

// What the columns FOR, SITE and NOW go by.
struct Told {
  std::string wait_for;  // only waits for this were asked for; empty: all
  double interval = 0;   // seconds; 0: there is none
  double age = 0;        // seconds since the end of the window
};

// Means are threads, and shown in percent of one thread.
template <class Mean>
TopColumn mean_column(const char* title, unsigned rank, Mean mean) {
  return share_column(title, rank, 1.0, [mean](const TopRow& row) { return mean(row.waits); });
}

// The waits by which rows are sorted.
TopWaits::Mean leading(const TopWaits& waits, const std::string& wait_for) {
  if (wait_for.empty()) return {waits.actionable, waits.error};
  const auto found = waits.by_for.find(wait_for);
  return found == waits.by_for.end() ? TopWaits::Mean{} : found->second;
}

// The site with most actionable time, or time for children, or time of what was asked for; null:
// there is none.
const TopWaits::Site* main_site(const TopRow& row, const Told& told) {
  const TopWaits& waits = row.waits;
  if (waits.sites.empty()) return nullptr;
  if (told.wait_for.empty() && waits.actionable + waits.children <= 0) return nullptr;
  return &waits.sites.front();
}

// The main cause of its waits for a CPU, if these are longer than all its other actionable waits.
// Otherwise empty.
std::string cpu_cause(const TopRow& row, const Told& told) {
  if (!told.wait_for.empty()) return {};
  const double waiting = told.interval > 0 ? total_of(row.runqueue) / told.interval : 0;
  if (waiting < kNobody || waiting <= row.waits.actionable) return {};
  const auto largest =
      std::ranges::max_element(row.runqueue, {}, [](const auto& each) { return each.second; });
  return largest->first;
}

TopColumn for_column(const Told& told) {
  return {"FOR", kForWidth, Align::Left, 3, [told](const TopRow& row) -> std::string {
            if (!cpu_cause(row, told).empty()) return "cpu";
            const TopWaits::Site* site = main_site(row, told);
            return site == nullptr ? "-" : terminal_text(site->wait_for);
          }};
}

TopColumn site_column(const Told& told) {
  return {"SITE", kSiteWidth, Align::Name, 5, [told](const TopRow& row) -> std::string {
            if (auto cause = cpu_cause(row, told); !cause.empty()) return terminal_text(cause);
            const TopWaits::Site* site = main_site(row, told);
            return site == nullptr || site->site.empty() ? "-" : terminal_text(site->site);
          }};
}

// "12 min" of "12 min 34 s".
std::string without_smaller_unit(const std::string& time) {
  return time.substr(0, time.find(' ', time.find(' ') + 1));
}

// "8, 25 s": the number of waits in progress there when the window ended, and the age of the
// longest now, as in `offcpuctl stalls`.
TopColumn now_column(const Told& told) {
  return {"NOW", kLongestWidth, Align::Left, 7, [told](const TopRow& row) -> std::string {
            const TopWaits::Site* site = main_site(row, told);
            if (site == nullptr || site->lasting == 0 || !cpu_cause(row, told).empty()) return "-";
            std::string number = std::to_string(site->lasting);
            if (site->oldest <= 0) return number;
            const std::string age = age_cell(site->oldest + told.age, site->estimated);
            std::string text = number + ", " + age;
            if (terminal_width(text) <= kLongestWidth) return text;
            return number + ", " + without_smaller_unit(age);
          }};
}

// "12" threads.
std::string idle_text(const TopRow& row) {
  if (row.waits.idle < kNobody) return "-";
  return threads_text(row.waits.idle);
}

// "x12": the row is of twelve processes that have ended.
std::string pid_text(const TopRow& row) {
  const bool one = row.ended_processes == 0;
  return one ? std::to_string(row.pid) : "x" + std::to_string(row.ended_processes);
}

}  // namespace

std::vector<TopColumn> process_columns_by_for(const TopAnswer& answer) {
  const auto share = [&](const char* title, unsigned rank, auto seconds) {
    return share_column(title, rank, answer.interval, seconds);
  };
  const Told told{answer.wait_for, answer.interval.value_or(0), answer.window_age};
  std::vector<TopColumn> columns;
  columns.push_back({"PID", kPidWidth, Align::Right, 0, pid_text});
  columns.push_back(name_column("COMM", 1, &TopRow::comm));
  columns.push_back(mean_column("WAIT%", 2, [wait_for = told.wait_for](const TopWaits& waits) {
    return leading(waits, wait_for).waiting;
  }));
  columns.push_back(mean_column("+-", 10, [wait_for = told.wait_for](const TopWaits& waits) {
    return leading(waits, wait_for).error;
  }));
  columns.push_back(for_column(told));
  columns.push_back(site_column(told));
  columns.push_back(now_column(told));
  columns.push_back(share("RUNQ%", 6, queued_of));
  columns.push_back(share("THROT%", 8, throttled_of));
  columns.push_back(share("RUN%", 9, [](const TopRow& row) { return row.running; }));
  columns.push_back(mean_column("UNKN%", 11, [](const TopWaits& waits) { return waits.unknown; }));
  columns.push_back({"IDLE", 6, Align::Right, 12, idle_text});
  columns.push_back(where_column(4));
  return columns;
}

std::vector<TopColumn> thread_columns_by_for(const TopAnswer& answer) {
  const auto share = [&](const char* title, unsigned rank, auto seconds) {
    return share_column(title, rank, answer.interval, seconds);
  };
  const auto text = [](const char* title, std::size_t width, unsigned rank,
                       std::string TopRow::*name) {
    return TopColumn{title, width, Align::Name, rank, [name](const TopRow& row) {
                       return (row.*name).empty() ? "-" : terminal_text(row.*name);
                     }};
  };
  std::vector<TopColumn> columns;
  columns.push_back(number_column("TID", kPidWidth, 0, &TopRow::tid));
  columns.push_back(number_column("PID", kPidWidth, 14, &TopRow::pid));
  columns.push_back(name_column("COMM", 1, &TopRow::comm));
  columns.push_back(cpu_column(5));
  columns.push_back(state_column(2));
  columns.push_back(age_column(6));
  columns.push_back(share("WAIT%", 3, [](const TopRow& row) { return row.waiting; }));
  columns.push_back(text("FOR", kForWidth, 4, &TopRow::wait_for));
  columns.push_back(text("SITE", kSiteWidth, 9, &TopRow::site));
  columns.push_back(share("RUNQ%", 7, queued_of));
  columns.push_back(share("THROT%", 16, throttled_of));
  columns.push_back(share("RUN%", 8, [](const TopRow& row) { return row.running; }));
  add_takers(columns, answer, 12);
  columns.push_back(name_column("LAST TAKER", 13, &TopRow::last_taker));
  columns.push_back(time_column("LONGEST", 10, &TopRow::longest_wait));
  columns.push_back(name_column("TAKEN BY", 11, &TopRow::longest_taker));
  columns.push_back(where_column(15));
  return columns;
}

}  // namespace offcpud
