// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "base/amount_text.h"
#include "ctl/terminal_text.h"
#include "ctl/top_columns.h"

namespace offcpud {
namespace {

std::size_t width_of(const std::vector<TopColumn>& columns) {
  std::size_t width = columns.empty() ? 0 : columns.size() - 1;  // blanks between columns
  for (const TopColumn& column : columns) width += column.width;
  return width;
}

std::vector<TopColumn> fitting(std::vector<TopColumn> columns, std::size_t width) {
  while (columns.size() > 1 && width_of(columns) > width) {
    columns.erase(
        std::max_element(columns.begin(), columns.end(),
                         [](const TopColumn& a, const TopColumn& b) { return a.rank < b.rank; }));
  }
  return columns;
}

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string clipped(const std::string& line, std::size_t width) {
  if (width == kAnyWidth || terminal_width(line) <= width) return line;
  return fitted(line, width, Align::Left);
}

template <class Cell>
std::string line_of(const std::vector<TopColumn>& columns, std::size_t width, Cell cell) {
  std::string line;
  for (const TopColumn& column : columns) {
    const std::string text = cell(column);
    if (!line.empty()) line += ' ';
    const bool last = &column == &columns.back();
    if (last && width == kAnyWidth && column.align != Align::Right) {
      line += text;
      continue;
    }
    const std::size_t room = width == kAnyWidth || !last ? 0 : width - width_of(columns);
    line += fitted(text, column.width + room, column.align);
  }
  return clipped(without_blanks_at_end(std::move(line)), width);
}

// Seconds of waiting per second are the average number of waiting threads.
std::string threads_within(double seconds, double interval) {
  return threads_text(interval > 0 ? seconds / interval : 0);
}

std::uint64_t rows_of_host(const TopAnswer& answer) {
  return answer.of_threads ? answer.totals.threads : answer.processes;
}

// What the lines above the table are about.
const TopRow& head_of(const TopAnswer& answer) {
  return answer.selected ? *answer.selected : answer.totals;
}

// Empty if the rows and these lines are about all processes.
std::string of_whom(const TopAnswer& answer) {
  if (answer.selected) return "Of what matches, ";
  return answer.matching == rows_of_host(answer) ? "" : "On the whole host, ";
}

// `line` behind of_whom().
std::string about(const TopAnswer& answer, std::string line) {
  std::string whom = of_whom(answer);
  if (!whom.empty()) line.front() = static_cast<char>(std::tolower(line.front()));
  return whom + line;
}

std::string waits_line(const TopAnswer& answer) {
  if (!answer.interval) return "Nothing to compare with yet: times come with the next walk.";
  const double interval = *answer.interval;
  const TopRow& totals = head_of(answer);
  std::string line = "Threads on average: running " + threads_within(totals.running, interval) +
                     ", waiting " + threads_within(totals.actionable, interval) + " (run queue " +
                     threads_within(total_of(totals.runqueue), interval);
  for (const char* reason : {"disk", "lock", "network", "pipe"}) {
    const auto found = totals.blocked.find(reason);
    if (found == totals.blocked.end()) continue;
    line.append(", ").append(reason).append(" ").append(threads_within(found->second, interval));
  }
  return about(answer, line + ")");
}

// Of what somebody may want to do something about.
constexpr const char* kActionable[] = {"lock", "answer", "storage", "memory", "stopped"};
std::string for_line(const TopAnswer& answer) {
  const TopRow& head = head_of(answer);
  const TopWaits& waits = head.waits;
  std::string line;
  for (const char* name : kActionable) {
    const auto found = waits.by_for.find(name);
    if (found == waits.by_for.end()) continue;
    // A child shows itself what it waits for.
    const double threads =
        found->second.waiting - (std::string_view(name) == "answer" ? waits.children : 0);
    if (threads < 0.005) continue;
    line.append(line.empty() ? "" : ", ").append(name);
    line += " " + threads_text(threads);
  }
  if (waits.actionable < kNobody) {
    line = "Nobody waits for a lock, an answer, storage or memory (" +
           threads_text(waits.actionable) + " threads on average)";
  } else {
    line = "Threads that wait, on average: " + line;
  }
  line = about(answer, std::move(line));
  if (!answer.interval) return line;
  return line + "; for a CPU " + threads_within(total_of(head.runqueue), *answer.interval) +
         "; running " + threads_within(head.running, *answer.interval);
}

std::string idle_line(const TopAnswer& answer) {
  const TopWaits& waits = head_of(answer).waits;
  const auto threads = [&](const char* name) {
    const auto found = waits.by_for.find(name);
    return threads_text(found != waits.by_for.end() ? found->second.waiting : 0);
  };
  const double children = waits.children;
  return about(answer, "Idle: ") + threads("work") + " wait for work, " + threads("timer") +
         " for a timer" +
         (children < kNobody ? "" : ", " + threads_text(children) + " for their own children") +
         ". Of " + threads("unknown") + " nobody can tell" +
         (answer.unusual == 0
              ? "."
              : "; " + count_text(answer.unusual) + " unusually long: offcpuctl stalls.");
}

// " in nginx.service": what rows have in common; empty: nothing was asked for.
std::string selection_text(const TopRequest& request) {
  std::string text;
  if (!request.cgroup.empty()) text += " in " + request.cgroup;
  if (request.pid) text += " of process " + std::to_string(*request.pid);
  if (request.cpu && request.threads) text += " on CPU " + std::to_string(*request.cpu);
  if (!request.filter.empty()) text += " with \"" + request.filter + "\"";
  if (request.wait_for == "unknown") {
    text += " that wait for what nobody can tell";
  } else if (!request.wait_for.empty()) {
    text += " that wait for " + request.wait_for;
  }
  return text;
}

// ", and 12 that have ended": those are not counted with the others.
std::string ended_text(const TopAnswer& answer) {
  std::uint64_t ended = 0;
  for (const TopRow& row : answer.rows) ended += row.ended_processes;
  if (ended == 0) return {};
  return ended == 1 ? ", and 1 that has ended" : ", and " + count_text(ended) + " that have ended";
}

// "12 threads in nginx.service, of 1,830"; "214 processes, 1,830 threads" if all are shown.
std::string rows_text(const TopAnswer& answer, const TopRequest& request) {
  const std::string selection = selection_text(request);
  const std::uint64_t all = rows_of_host(answer);
  if (answer.matching == all && selection.empty()) {
    return counted(answer.processes, "process", "processes") + ", " +
           counted(answer.totals.threads, "thread");
  }
  const std::string rows =
      answer.of_threads ? counted(answer.matching, request.pinned ? "pinned thread" : "thread")
                        : counted(answer.matching, "process", "processes");
  return rows + selection + ", of " + count_text(all) + ended_text(answer);
}

// Waits are summed by windows, running and run queue from one walk over threads to the next.
std::string times_text(const TopAnswer& answer) {
  const std::string interval = answer.interval ? duration_cell(*answer.interval) : std::string();
  const std::string window = answer.window ? duration_cell(*answer.window) : interval;
  std::string text;
  if (!window.empty()) text += "; waits over " + window;
  const double age = answer.window ? std::round(answer.window_age) : 0;
  if (age > 0) text += " until " + duration_cell(age) + " ago";
  if (!interval.empty() && interval != window) text += ", CPUs over " + interval;
  return text;
}

std::string host_line(const TopAnswer& answer, const std::string& server,
                      const TopRequest& request) {
  std::string line = "offcpud at " + server;
  // Shows only the time of day of "2026-11-20T12:19:40.250Z".
  if (answer.taken.size() >= 19) line += ", " + answer.taken.substr(11, 8) + "Z";
  line += ": " + rows_text(answer, request) + times_text(answer);
  return terminal_text(line);
}

std::vector<TopColumn> columns_of(const TopAnswer& answer, bool by_for) {
  if (by_for) {
    return answer.of_threads ? thread_columns_by_for(answer) : process_columns_by_for(answer);
  }
  return answer.of_threads ? thread_columns(answer) : process_columns(answer);
}

// Titles are words, and cut as such.
std::string titles_of(std::vector<TopColumn> columns, std::size_t width) {
  for (TopColumn& column : columns) {
    if (column.align == Align::Name) column.align = Align::Left;
  }
  return line_of(columns, width, [](const TopColumn& column) { return column.title; });
}

}  // namespace

std::string shown_rows(const TopRequest& request) {
  const char* const rows = !request.threads ? "processes"
                           : request.pinned ? "pinned threads"
                                            : "threads";
  return rows + selection_text(request);
}

TopTable top_table(const TopAnswer& answer, const std::string& server, std::size_t width,
                   const TopRequest& request) {
  const bool by_for = answer.window && !request.by_reason;
  const auto all = columns_of(answer, by_for);
  const auto columns = fitting(all, width);
  TopTable table;
  if (columns.size() < all.size()) {
    table.note = "more columns at a width of " + std::to_string(width_of(all));
  }
  table.summary = {clipped(host_line(answer, server, request), width)};
  if (by_for) {
    table.summary.push_back(clipped(for_line(answer), width));
    table.summary.push_back(clipped(idle_line(answer), width));
  } else {
    table.summary.push_back(clipped(waits_line(answer), width));
  }
  if (!answer.window && !request.by_reason) {
    table.summary.push_back(clipped("What waits are for is not known: these are reasons.", width));
  }
  table.titles = titles_of(columns, width);
  for (const TopRow& row : answer.rows) {
    table.rows.push_back(
        line_of(columns, width, [&](const TopColumn& column) { return column.cell(row); }));
  }
  return table;
}

std::string top_text(const TopTable& table) {
  std::string text;
  for (const std::string& line : table.summary) text += line + "\n";
  text += "\n" + table.titles + "\n";
  for (const std::string& line : table.rows) text += line + "\n";
  if (!table.note.empty()) text += "(" + table.note + ")\n";
  return text;
}

}  // namespace offcpud
