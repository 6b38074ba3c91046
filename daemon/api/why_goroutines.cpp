// SPDX-License-Identifier: Apache-2.0
#include "api/why_goroutines.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "api/recent_windows.h"
#include "attribution/unit_names.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/no_unit.h"
#include "base/printable.h"
#include "why/cause.h"

namespace offcpud {
namespace {

constexpr double kGoroutinesWorthALine = 0.05;
constexpr std::size_t kMostLines = 3;

using PlaceKey = std::tuple<std::string, std::string, WaitFor, std::string, std::string>;

void add(UnitGoroutines& sum, const GoroutineWaits& waits, bool is_last,
         std::chrono::nanoseconds since) {
  const bool is_first = sum.goroutines == 0 && sum.now == 0;
  sum.pid = is_first || sum.pid == waits.pid ? waits.pid : 0;
  sum.goroutines += waits.ns;  // as seconds, until the length of the window is known
  if (!is_last) return;
  sum.now += waits.now;
  if (waits.longest_ns == 0) return;
  const std::uint64_t longest_ns = waits.longest_ns + static_cast<std::uint64_t>(since.count());
  sum.longest_ns = std::max(sum.longest_ns, longest_ns);
}

std::string words_of(WaitFor wait_for) {
  return std::string(words_of_for(static_cast<std::size_t>(wait_for)));
}

bool is_told(const UnitGoroutines& row) {
  return actionable(row.wait_for) && row.goroutines >= kGoroutinesWorthALine;
}

// " (offcpuctl goroutines 812)"; 0: "PID".
std::string command_text(std::uint32_t pid) {
  return " (offcpuctl goroutines " + (pid != 0 ? std::to_string(pid) : "PID") + ")";
}

// ", one for at least 34 s"; empty: it is not known.
std::string age_text(std::uint64_t longest_ns) {
  if (longest_ns == 0) return {};
  return ", one for at least " + duration_text(static_cast<double>(longest_ns) * 1e-9);
}

// " of checkout (pid 812)"
std::string of_program(const UnitGoroutines& row) {
  if (row.program.empty()) return {};
  return " of " + row.program + (row.pid != 0 ? " (pid " + std::to_string(row.pid) + ")" : "");
}

// " in main.pay (chan send)"
std::string place_text(const UnitGoroutines& row) {
  std::string text = row.function.empty() ? "" : " in " + row.function;
  if (!row.reason.empty()) text += " (" + row.reason + ")";
  return text;
}

// Who is in the function that takes the lock, but waits for something else, may have it.
std::string meanwhile_text(const WhyGoroutines& goroutines, const UnitGoroutines& lock) {
  if (lock.function.empty()) return {};
  const UnitGoroutines* most = nullptr;
  for (const UnitGoroutines& row : goroutines.rows) {
    const bool is_there = row.unit == lock.unit && row.program == lock.program &&
                          row.function == lock.function && row.wait_for != WaitFor::Lock;
    if (is_there && (most == nullptr || row.goroutines > most->goroutines)) most = &row;
  }
  if (most == nullptr || most->goroutines < kGoroutinesWorthALine) return {};
  return "; meanwhile " + threads_text(most->goroutines) + " are in the same function and wait " +
         words_of(most->wait_for) + " (" + most->reason + ")";
}

std::string blame_text(const WhyGoroutines& goroutines, const UnitGoroutines& row) {
  if (row.wait_for == WaitFor::Lock) {
    return "; who holds it is unknown, because Go does not note who holds its locks" +
           meanwhile_text(goroutines, row);
  }
  return row.wait_for == WaitFor::Answer ? "; whose answer is unknown" : "";
}

std::string sentence_of(const WhyGoroutines& goroutines, const UnitGoroutines& row) {
  std::string text = in_sentence(row.unit) + ": " + threads_text(row.goroutines) + " goroutines" +
                     of_program(row) + " wait " + words_of(row.wait_for) + place_text(row) + ", " +
                     duration_text(row.goroutines * goroutines.seconds) + " within " +
                     duration_text(goroutines.seconds) + age_text(row.longest_ns) +
                     blame_text(goroutines, row);
  if (row.pid != 0) text += command_text(row.pid);
  return printable(text) + "\n";
}

// The process that all these goroutines are of; 0: several.
std::uint32_t process_of(const WhyGoroutines& goroutines) {
  const auto& rows = goroutines.rows;
  const auto is_another = [&](const UnitGoroutines& row) { return row.pid != rows.front().pid; };
  return rows.empty() || std::ranges::any_of(rows, is_another) ? 0 : rows.front().pid;
}

// "goroutines left out as idle: 14 wait for work, 2.0 for a timer; of 0.5 nobody can tell ..."
std::string idle_text(const WhyGoroutines& goroutines) {
  double work = 0, timer = 0, unknown = 0;
  std::uint64_t longest_unknown_ns = 0;
  for (const UnitGoroutines& row : goroutines.rows) {
    if (row.wait_for == WaitFor::Work) work += row.goroutines;
    if (row.wait_for == WaitFor::Timer) timer += row.goroutines;
    if (row.wait_for != WaitFor::Unknown) continue;
    unknown += row.goroutines;
    longest_unknown_ns = std::max(longest_unknown_ns, row.longest_ns);
  }
  if (work + timer + unknown < kGoroutinesWorthALine) return {};
  std::string text = "goroutines left out as idle: " + threads_text(work) + " wait for work, " +
                     threads_text(timer) + " for a timer";
  if (unknown >= kGoroutinesWorthALine) {
    text += "; of " + threads_text(unknown) + " nobody can tell what for" +
            age_text(longest_unknown_ns);
  }
  return text + command_text(process_of(goroutines)) + "\n";
}

}  // namespace

WhyGoroutines why_goroutines(const View& view, const WhyQuery& query, const ProcessRow* process,
                             bool details) {
  UnitNames names;
  std::map<PlaceKey, UnitGoroutines> sums;
  const auto is_asked_for = [&](const GoroutineWaits& waits) {
    if (process == nullptr) return query.cgroup.admits(waits.cgroup);
    return waits.pid == process->pid && waits.process_start_ns == process->start_ns;
  };
  const auto length = for_each_recent(
      view.goroutine_history, query.window, [&](const GoroutineWindow& window, bool is_last) {
        for (const GoroutineWaits& waits : window.waits) {
          if (!is_asked_for(waits)) continue;
          const std::string& unit = names.of(waits.cgroup);
          const PlaceKey key =
              details ? PlaceKey(unit, waits.program, waits.wait_for, waits.reason, waits.function)
                      : PlaceKey(unit, {}, waits.wait_for, {}, {});
          UnitGoroutines& sum = sums[key];
          add(sum, waits, is_last, view.taken - window.end);
          sum.unit = unit;
          sum.wait_for = waits.wait_for;
          if (!details) continue;
          sum.program = waits.program;
          sum.site = waits.site;
          sum.reason = waits.reason;
          sum.function = waits.function;
        }
      });
  WhyGoroutines goroutines{.seconds = in_seconds(length), .rows = {}};
  for (auto& [key, sum] : sums) {
    if (!details) sum.pid = 0;
    sum.goroutines /= static_cast<double>(std::max<std::int64_t>(length.count(), 1));
    goroutines.rows.push_back(std::move(sum));
  }
  std::ranges::stable_sort(goroutines.rows, {}, [](const UnitGoroutines& row) {
    return std::tuple(!actionable(row.wait_for), is_idle(row.wait_for), -row.goroutines);
  });
  return goroutines;
}

bool tells_of_goroutines(const WhyGoroutines& goroutines) {
  return std::ranges::any_of(goroutines.rows, is_told);
}

std::string why_goroutines_text(const WhyGoroutines& goroutines, bool whole_host) {
  std::string text;
  std::size_t lines = 0, more = 0;
  for (const UnitGoroutines& row : goroutines.rows) {
    if (!is_told(row)) continue;
    if (lines == kMostLines) {
      ++more;
      continue;
    }
    ++lines;
    text += sentence_of(goroutines, row);
  }
  if (more > 0) {
    text += "goroutines wait at " + counted(more, "more place") +
            command_text(process_of(goroutines)) + "\n";
  }
  return whole_host ? text : text + idle_text(goroutines);
}

}  // namespace offcpud
