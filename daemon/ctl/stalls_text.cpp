// SPDX-License-Identifier: Apache-2.0
#include "ctl/stalls_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/amount_text.h"
#include "base/no_unit.h"
#include "base/printable.h"
#include "ctl/stall_parts.h"
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

constexpr std::size_t kOthers = 8;  // of a group that are named
constexpr std::size_t kColumns = 9;
using StallRow = std::array<std::string, kColumns>;
constexpr std::string_view kDetailsIndent = "    ";

// Stalls with one cause: the oldest, and the others.
struct StallGroup {
  const StallJson* first = nullptr;
  std::vector<const StallJson*> others;
};

// A name means one thing only within its scope: a futex without a name within the process's
// program, a number of a file within the process.
struct Culprit {
  enum class Scope : std::uint8_t { Host, Program, Process };
  std::string name;
  Scope scope = Scope::Program;
};

// The file that it waits on. Without the number if it has a path.
Culprit file_culprit(const StallJson& stall) {
  using Scope = Culprit::Scope;
  const StallJson& waits_for = member(stall, "waits_for");
  const StallJson& file = member(waits_for, "file");
  const std::string path = text_of(file, "path");
  if (path.starts_with('/')) {
    const bool is_lock = text_of(stall, "for") == "lock";
    return {path + " on " + text_of(file, "device"), is_lock ? Scope::Host : Scope::Program};
  }
  const std::string socket = text_of(waits_for, "socket");
  if (!socket.empty()) return {socket};
  return {join({prefixed("fd ", text_of(file, "fd")), path}), Scope::Process};
}

// Whom or what it waits for: who holds the lock, else the other end, else the lock, else the file.
// In this order, because many threads wait for one server, each on a socket of its own, and those
// in epoll all wait on a set. Of locks and peers, as the page has it (overview/unit_parts.js).
Culprit culprit_of(const StallJson& stall) {
  const StallJson& holder = member(stall, "held_by");
  if (holder.is_object()) return {lock_of_text(stall), Culprit::Scope::Host};
  // Not by its process: PostgreSQL has one for each client.
  const StallJson& peer = member(stall, "waits_on");
  const std::string on = join({text_of(peer, "on"), text_of(peer, "comm")});
  if (!on.empty()) return {on};
  const StallJson& futex = member(member(stall, "waits_for"), "futex");
  if (futex.is_object()) return {waits_for_text(stall)};
  return file_culprit(stall);
}

// What all of a group have in common: where they wait, and for whom or what. Empty: the stall is a
// group of its own.
std::string cause_of(const StallJson& stall) {
  const std::string site = text_of(stall, "site");
  const Culprit culprit = culprit_of(stall);
  if (site.empty() || culprit.name.empty()) return {};
  std::vector<std::string> parts = {text_of(stall, "state"), text_of(stall, "told"),
                                    text_of(stall, "for"), site, culprit.name};
  if (culprit.scope != Culprit::Scope::Host) {
    parts.push_back(where_text(stall));
    parts.push_back(text_of(stall, "process"));
  }
  if (culprit.scope == Culprit::Scope::Process) parts.push_back(text_of(stall, "pid"));
  std::string cause;
  for (const std::string& part : parts) cause.append(part).append(1, '\n');
  return cause;
}

// Whom or what all of a group wait for: who holds the lock, else the other end, else the lock, file
// or socket.
std::string whom_text(const StallJson& stall) {
  for (std::string text : {lock_of_text(stall), waits_on_text(stall), waits_for_text(stall)}) {
    if (!text.empty()) return text;
  }
  return "-";
}

// Long, but nothing says for certain that it delays somebody.
bool is_untold(const StallJson& stall) {
  return member(stall, "told") == StallJson(false);
}

// "stuck", "waits" if it is no stall, "ended 14 s ago"; "gone": nobody saw its end.
std::string state_text(const StallJson& stall) {
  if (text_of(stall, "state") != "ended") return is_untold(stall) ? "waits" : "stuck";
  if (member(stall, "ended_at").is_null()) return "gone";
  const StallJson& ago = member(stall, "ended_ago_seconds");
  const double seconds = ago.is_number() ? ago.get<double>() : 0;
  return seconds > 0 ? "ended " + duration_cell(seconds) + " ago" : "ended";
}

// "a.service", "a.service and 2 more": where the threads of a group are.
std::string places_text(const StallGroup& group) {
  std::set<std::string> places = {where_text(*group.first)};
  for (const StallJson* other : group.others) places.insert(where_text(*other));
  const std::string first = where_text(*group.first);
  return places.size() == 1 ? first : first + " and " + std::to_string(places.size() - 1) + " more";
}

// One line for a group.
StallRow row_of(const StallGroup& group) {
  const StallJson& stall = *group.first;
  return {state_text(stall),
          age_text(stall),
          std::to_string(group.others.size() + 1),
          or_dash(text_of(stall, "for")) + (is_unsure(stall) ? "?" : ""),
          or_dash(text_of(stall, "site")),
          comm_text(stall),
          ids_text(stall),
          places_text(group),
          whom_text(stall)};
}

using CauseOf = std::string (*)(const StallJson& stall);

std::vector<StallGroup> groups_of(const StallJson& stalls, CauseOf one_by) {
  std::vector<StallGroup> groups;
  std::map<std::string, std::size_t> places;  // of groups, by cause
  for (const StallJson& stall : stalls) {
    const std::string cause = one_by(stall);
    const auto [place, is_new] = places.try_emplace(cause, groups.size());
    if (is_new || cause.empty()) {
      groups.push_back({.first = &stall, .others = {}});
    } else {
      groups[place->second].others.push_back(&stall);
    }
  }
  return groups;
}

// "3 more: 100/111 100/112 100/113"
std::string others_text(const StallGroup& group) {
  if (group.others.empty()) return {};
  std::string text = std::to_string(group.others.size()) + " more:";
  for (std::size_t i = 0; i < group.others.size() && i < kOthers; ++i) {
    text += " " + ids_text(*group.others[i]);
  }
  return group.others.size() > kOthers ? text + " ..." : text;
}

// Of an unusual wait: "17 ms at most for 99 % of 1,200 waits, the longest 40 ms; known for 12 min".
std::string usual_text(const StallJson& stall) {
  const StallJson& usual = member(stall, "usual");
  const StallJson& p99 = member(usual, "p99_seconds");
  const StallJson& seen = member(usual, "seen_seconds");
  if (!p99.is_number() || !seen.is_number()) return {};
  const StallJson& longest = member(usual, "longest_seconds");
  return duration_cell(p99.get<double>()) + " at most for 99 % of " +
         count_text(number_of(usual, "waits")) + " waits" +
         (longest.is_number() ? ", the longest " + duration_cell(longest.get<double>()) : "") +
         "; known for " + duration_cell(seen.get<double>());
}

std::string details(const StallGroup& group) {
  const StallJson& stall = *group.first;
  const std::pair<std::string_view, std::string> lines[] = {
      {"since      ", since_text(stall)},
      {"until      ", text_of(stall, "ended_at")},
      {"usually    ", usual_text(stall)},
      {"reason     ", text_of(stall, "reason")},
      {"in         ", syscall_text(stall)},
      {"waits for  ", waits_for_text(stall)},
      {"waits on   ", waits_on_text(stall)},
      {"held by    ", held_by_text(stall)},
      {"released   ", released_by_text(stall)},
      {"with       ", others_text(group)},
      {"stack      ", stack_text(stall, "user_stack")},
      {"in kernel  ", stack_text(stall, "stack")},
      {"woken by   ", woken_by_text(stall)},
  };
  std::string text;
  for (const auto& [label, line] : lines) {
    if (!line.empty()) text.append(kDetailsIndent).append(label).append(line).append("\n");
  }
  return text;
}

std::string line_of(const StallRow& row, const std::array<std::size_t, kColumns>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += row[i];
    if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
  }
  return line + "\n";
}

// What the marks in the table mean, and what users with more rights would see.
std::string footnotes(const StallJson& answer, const StallJson& stalls, bool verbose) {
  const auto has_hidden = [](const StallJson& stall) {
    const StallJson& syscall = member(stall, "syscall");
    return syscall.is_object() && !syscall.contains("arguments");
  };
  std::string text;
  if (std::ranges::any_of(stalls, is_estimated)) {
    text += "~ estimated: it began before offcpud was started\n";
  }
  if (std::ranges::any_of(stalls, is_unsure)) {
    text += "? not certain: nothing but the names of its functions speaks for it\n";
  }
  if (!verbose) text += "-v shows stacks and system calls, --all those that ended, too\n";
  if (member(answer, "addresses") == StallJson(false) && std::ranges::any_of(stalls, has_hidden)) {
    text += "arguments and paths are not shown: run with sudo, or log in, to see them\n";
  }
  return text;
}

// Says how many threads wait for as long and are neither told nor shown, so that nobody takes them
// for nothing.
std::string untold_text(const StallJson& answer, bool were_asked_for) {
  const StallJson& counts = member(answer, "not_told");
  const StallJson& stalls = member(answer, "stalls");
  const auto shown = static_cast<std::uint64_t>(std::ranges::count_if(stalls, is_untold));
  std::string text;
  const auto append = [&](std::uint64_t threads, std::string_view what) {
    if (threads == 0) return;
    text += (text.empty() ? "left out on this host, though as long: " : ", ") +
            count_text(threads) + std::string(what);
  };
  append(number_of(counts, "work"), " wait for work");
  append(number_of(counts, "timer"), " for a timer");
  append(number_of(counts, "child"), " for their own children");
  const std::uint64_t unknown = number_of(counts, "unknown");
  append(unknown - std::min(unknown, shown),
         were_asked_for ? " for what nobody can tell"
                        : " for what nobody can tell (--for unknown shows them)");
  return text.empty() ? text : text + "\n";
}

std::string summary(const StallJson& answer, std::size_t shown, bool of_unknown) {
  std::string text = untold_text(answer, of_unknown);
  if (const std::uint64_t matching = number_of(answer, "matching"); matching > shown) {
    text += count_text(matching - shown) + " more are not shown (--limit)\n";
  }
  if (const std::uint64_t beyond = number_of(answer, "beyond_limit"); beyond > 0) {
    text += count_text(beyond) +
            " more of this host are beyond the limit; they are told when they end\n";
  }
  if (const std::uint64_t dropped = number_of(answer, "dropped"); dropped > 0) {
    text += count_text(dropped) + " older ones are not kept (stalls.keep)\n";
  }
  return text;
}

// One line for each group, with all that is known of it below if `verbose`.
std::string table_of(const std::vector<StallGroup>& groups, bool verbose) {
  std::vector<StallRow> rows = {{"STATE", "LASTS", "THREADS", "FOR", "SITE", "PROCESS/THREAD",
                                 "PID/TID", "UNIT OR CGROUP", "WAITS FOR"}};
  for (const StallGroup& group : groups) rows.push_back(row_of(group));
  std::array<std::size_t, kColumns> widths{};
  for (const StallRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = line_of(rows.front(), widths);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    text += line_of(rows[i + 1], widths);
    if (verbose) text += details(groups[i]);
  }
  return text;
}

// Threads at one place, whatever each of them waits for.
std::string place_of(const StallJson& wait) {
  std::string place;
  for (const std::string& part : {where_text(wait), text_of(wait, "process"),
                                  text_of(wait, "reason"), member(wait, "user_stack").dump()}) {
    place.append(part).append(1, '\n');
  }
  return place;
}

// Unusual waits, in a table of their own, because they are not certain to be stalls.
std::string unusual_text(const StallJson& answer, bool verbose) {
  const StallJson& waits = member(answer, "unusual");
  if (!waits.is_array() || waits.empty()) return {};
  return "unusual: nobody can tell what for, but waits there are far shorter, and the unit has "
         "work to do\n" +
         table_of(groups_of(waits, place_of), verbose);
}

// Says where the functions are that stacks in `tables` leave out. Empty: they leave out none.
std::string cut_text(const std::string& tables) {
  const bool is_cut = tables.find(kFurther) != std::string::npos;
  return is_cut ? "... in a stack: functions that are left out; --json has all\n" : "";
}

const char* nothing_text(bool of_unknown) {
  return of_unknown ? "no thread waits for so long of which nobody can tell what for\n"
                    : "nothing is stuck; offcpuctl why says who waits for a shorter time\n";
}

}  // namespace

Result<std::string> stalls_text(const std::string& json, const StallsView& view) {
  const StallJson answer = StallJson::parse(json, nullptr, false);
  const StallJson& stalls = member(answer, "stalls");
  if (!stalls.is_array()) return Error("the answer is not a list of stalls of offcpud");
  const std::string unusual = unusual_text(answer, view.verbose);
  if (stalls.empty()) {
    return nothing_text(view.of_unknown) + unusual + cut_text(unusual) +
           summary(answer, 0, view.of_unknown);
  }
  const std::string table = table_of(groups_of(stalls, cause_of), view.verbose);
  return table + footnotes(answer, stalls, view.verbose) + unusual + cut_text(table + unusual) +
         summary(answer, stalls.size(), view.of_unknown);
}

}  // namespace offcpud
