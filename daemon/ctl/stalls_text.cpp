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
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kStackFrames = 6;  // the innermost ones; --json has all
constexpr std::size_t kOthers = 8;       // of a group that are named
constexpr std::size_t kColumns = 9;
using Row = std::array<std::string, kColumns>;
constexpr std::string_view kIndent = "    ";

// The member as printable text, numbers unchanged; empty if it is missing or null.
std::string text_of(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  if (found->is_string()) return printable(found->get_ref<const std::string&>());
  return found->is_structured() ? std::string() : found->dump();
}

const Json& member(const Json& object, const char* name) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::uint64_t number_of(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

bool is_estimated(const Json& stall) {
  return member(stall, "estimated") == Json(true);
}

bool is_unsure(const Json& stall) {
  return member(stall, "certain") == Json(false) && member(stall, "for") != Json("unknown");
}

// "12 s", "3 min 20 s"; "~" before an estimate.
std::string age_text(const Json& stall) {
  const Json& seconds = member(stall, "duration_seconds");
  if (!seconds.is_number()) return "-";
  return age_cell(seconds.get<double>(), is_estimated(stall));
}

std::string comm_text(const Json& stall) {
  const std::string comm = text_of(stall, "comm");
  const std::string process = text_of(stall, "process");
  return or_dash(process.empty() || process == comm ? comm : process + "/" + comm);
}

// As `top` shows it.
std::string where_text(const Json& stall) {
  const std::string unit = text_of(stall, "unit"), cgroup = text_of(stall, "cgroup");
  if (unit.empty() && cgroup == "/") return kNoUnit;
  return or_dash(unit.empty() ? cgroup : unit);
}

std::string ids_text(const Json& stall) {
  return or_dash(text_of(stall, "pid")) + "/" + or_dash(text_of(stall, "tid"));
}

std::string join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  }
  return text;
}

std::string prefixed(std::string_view prefix, const std::string& text) {
  return text.empty() ? std::string() : std::string(prefix) + text;
}

std::string syscall_text(const Json& stall) {
  const Json& syscall = member(stall, "syscall");
  const std::string name = text_of(syscall, "name");
  const std::string number = text_of(syscall, "number");
  if (name.empty() && number.empty()) return {};
  const Json& list = member(syscall, "arguments");
  std::string arguments = list.is_array() ? "" : "...";  // hidden from this user: docs/security.md
  for (const Json& argument : list.is_array() ? list : Json::array()) {
    if (!argument.is_string()) continue;
    arguments +=
        (arguments.empty() ? "" : ", ") + printable(argument.get_ref<const std::string&>());
  }
  return (name.empty() ? "system call " + number : name) + "(" + arguments + ")";
}

std::string waits_for_text(const Json& stall) {
  const Json& waits_for = member(stall, "waits_for");
  const Json& futex = member(waits_for, "futex");
  const Json& file = member(waits_for, "file");
  const Json& owner = member(futex, "owner");
  const std::string address = text_of(futex, "address");
  std::string held;
  if (owner.is_object()) {
    held =
        "held by " + or_dash(text_of(owner, "comm")) + "[" + or_dash(text_of(owner, "tid")) + "]";
  }
  return join({prefixed("futex ", address.empty() ? text_of(futex, "id") : address), held,
               prefixed("fd ", text_of(file, "fd")), text_of(file, "path"),
               text_of(waits_for, "socket"), prefixed("on ", text_of(file, "device"))});
}

// "redis.service (redis-server[412])", "remote:10.0.0.5:5432".
std::string waits_on_text(const Json& stall) {
  const Json& peer = member(stall, "waits_on");
  const std::string pid = text_of(peer, "pid");
  const std::string on = text_of(peer, "on");
  return join({on == "/" ? kNoUnit : on,
               pid.empty() ? "" : "(" + or_dash(text_of(peer, "comm")) + "[" + pid + "])"});
}

// "worker[101] in server[100]"; the main thread, and the owner of a file lock, "backup[812]".
std::string holder_text(const Json& holder) {
  const std::string tid = text_of(holder, "tid"), pid = text_of(holder, "pid");
  const std::string process = or_dash(text_of(holder, "process")) + "[" + or_dash(pid) + "]";
  const std::string thread = or_dash(text_of(holder, "comm")) + "[" + or_dash(tid) + "]";
  const bool is_process = text_of(holder, "lock") == "file_lock" || thread == process;
  return is_process ? process : thread + " in " + process;
}

// "mutex", "file lock".
std::string lock_text(const Json& holder) {
  std::string lock = text_of(holder, "lock");
  std::ranges::replace(lock, '_', ' ');
  return lock;
}

std::string deadlock_text(const Json& holder) {
  return member(holder, "deadlock") == Json(true) ? ", a deadlock" : "";
}

// "mutex of worker[101] in server[100], a deadlock".
std::string lock_of_text(const Json& stall) {
  const Json& holder = member(stall, "held_by");
  if (!holder.is_object()) return {};
  return lock_text(holder) + " of " + holder_text(holder) + deadlock_text(holder);
}

// "worker[101] in server[100] (mutex), a deadlock".
std::string held_by_text(const Json& stall) {
  const Json& holder = member(stall, "held_by");
  if (!holder.is_object()) return {};
  return holder_text(holder) + " (" + lock_text(holder) + ")" + deadlock_text(holder);
}

// "by keeper[12] in app[9], 95 % ± 4 % of the time of 23 waits seen"; of several threads only the
// process is named.
std::string released_by_text(const Json& stall) {
  const Json& released = member(stall, "released_by");
  const Json& by = member(released, "by");
  if (!by.is_array() || by.empty()) return {};
  const Json& most = by.front();
  const Json &share = member(most, "share"), &error = member(most, "error");
  if (!share.is_number() || !error.is_number()) return {};
  const std::string pid = text_of(most, "pid"), tid = text_of(most, "tid");
  const std::string thread = text_of(most, "thread");
  const std::string process =
      or_dash(text_of(most, "process")) + (pid.empty() ? "" : "[" + pid + "]");
  const bool is_thread = !thread.empty() && (tid.empty() || tid != pid);
  return "by " +
         (is_thread ? thread + (tid.empty() ? "" : "[" + tid + "]") + " in " + process : process) +
         ", " + share_text(std::clamp(share.get<double>(), 0.0, 1.0)) + " ± " +
         share_text(std::clamp(error.get<double>(), 0.0, 1.0)) + " of the time of " +
         count_text(number_of(released, "seen")) + " waits seen";
}

std::string stack_text(const Json& stall, const char* name) {
  std::string text;
  std::size_t frames = 0;
  const Json& stack = member(stall, name);
  for (const Json& frame : stack.is_array() ? stack : Json::array()) {
    if (!frame.is_string()) continue;
    if (frames++ == kStackFrames) return text + " < ...";
    std::string function = printable(frame.get_ref<const std::string&>());
    const std::size_t offset = function.find("+0x");
    if (offset != std::string::npos) function.resize(offset);
    text += (text.empty() ? "" : " < ") + function;
  }
  return text;
}

std::string woken_by_text(const Json& stall) {
  const Json& waker = member(stall, "woken_by");
  const std::string comm = text_of(waker, "comm");
  const std::string tid = text_of(waker, "tid");
  return join({text_of(waker, "from"), tid.empty() ? "" : or_dash(comm) + "[" + tid + "]"});
}

// "2026-11-20T11:00:00.250Z": milliseconds say nothing of an estimate.
std::string since_text(const Json& stall) {
  constexpr std::size_t kToSeconds = 19;
  std::string since = text_of(stall, "since");
  if (!is_estimated(stall) || since.size() <= kToSeconds || since[kToSeconds] != '.') return since;
  return since.substr(0, kToSeconds) + "Z";
}

// Stalls with one cause: the oldest, and the others.
struct StallGroup {
  const Json* first = nullptr;
  std::vector<const Json*> others;
};

// A name means one thing only within its scope: a futex without a name within the process's
// program, a number of a file within the process.
struct Culprit {
  enum class Scope : std::uint8_t { Host, Program, Process };
  std::string name;
  Scope scope = Scope::Program;
};

// The file that it waits on. Without the number if it has a path.
Culprit file_culprit(const Json& stall) {
  using Scope = Culprit::Scope;
  const Json& waits_for = member(stall, "waits_for");
  const Json& file = member(waits_for, "file");
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
Culprit culprit_of(const Json& stall) {
  const Json& holder = member(stall, "held_by");
  if (holder.is_object()) return {lock_of_text(stall), Culprit::Scope::Host};
  // Not by its process: PostgreSQL has one for each client.
  const Json& peer = member(stall, "waits_on");
  const std::string on = join({text_of(peer, "on"), text_of(peer, "comm")});
  if (!on.empty()) return {on};
  const Json& futex = member(member(stall, "waits_for"), "futex");
  if (futex.is_object()) return {waits_for_text(stall)};
  return file_culprit(stall);
}

// What all of a group have in common: where they wait, and for whom or what. Empty: the stall is a
// group of its own.
std::string cause_of(const Json& stall) {
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
std::string whom_text(const Json& stall) {
  for (std::string text : {lock_of_text(stall), waits_on_text(stall), waits_for_text(stall)}) {
    if (!text.empty()) return text;
  }
  return "-";
}

// Long, but nothing says for certain that it delays somebody.
bool is_untold(const Json& stall) {
  return member(stall, "told") == Json(false);
}

// "stuck", "waits" if it is no stall, "ended 14 s ago"; "gone": nobody saw its end.
std::string state_text(const Json& stall) {
  if (text_of(stall, "state") != "ended") return is_untold(stall) ? "waits" : "stuck";
  if (member(stall, "ended_at").is_null()) return "gone";
  const Json& ago = member(stall, "ended_ago_seconds");
  const double seconds = ago.is_number() ? ago.get<double>() : 0;
  return seconds > 0 ? "ended " + duration_cell(seconds) + " ago" : "ended";
}

// "a.service", "a.service and 2 more": where the threads of a group are.
std::string where_text(const StallGroup& group) {
  std::set<std::string> places = {where_text(*group.first)};
  for (const Json* other : group.others) places.insert(where_text(*other));
  const std::string first = where_text(*group.first);
  return places.size() == 1 ? first : first + " and " + std::to_string(places.size() - 1) + " more";
}

// One line for a group.
Row row_of(const StallGroup& group) {
  const Json& stall = *group.first;
  return {state_text(stall),
          age_text(stall),
          std::to_string(group.others.size() + 1),
          or_dash(text_of(stall, "for")) + (is_unsure(stall) ? "?" : ""),
          or_dash(text_of(stall, "site")),
          comm_text(stall),
          ids_text(stall),
          where_text(group),
          whom_text(stall)};
}

using CauseOf = std::string (*)(const Json& stall);

std::vector<StallGroup> groups_of(const Json& stalls, CauseOf one_by) {
  std::vector<StallGroup> groups;
  std::map<std::string, std::size_t> places;  // of groups, by cause
  for (const Json& stall : stalls) {
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
std::string usual_text(const Json& stall) {
  const Json& usual = member(stall, "usual");
  const Json& p99 = member(usual, "p99_seconds");
  const Json& seen = member(usual, "seen_seconds");
  if (!p99.is_number() || !seen.is_number()) return {};
  const Json& longest = member(usual, "longest_seconds");
  return duration_cell(p99.get<double>()) + " at most for 99 % of " +
         count_text(number_of(usual, "waits")) + " waits" +
         (longest.is_number() ? ", the longest " + duration_cell(longest.get<double>()) : "") +
         "; known for " + duration_cell(seen.get<double>());
}

std::string details(const StallGroup& group) {
  const Json& stall = *group.first;
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
    if (!line.empty()) text.append(kIndent).append(label).append(line).append("\n");
  }
  return text;
}

std::string line_of(const Row& row, const std::array<std::size_t, kColumns>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += row[i];
    if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
  }
  return line + "\n";
}

// What the marks in the table mean, and what users with more rights would see.
std::string footnotes(const Json& answer, const Json& stalls, bool verbose) {
  const auto has_hidden = [](const Json& stall) {
    const Json& syscall = member(stall, "syscall");
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
  if (member(answer, "addresses") == Json(false) && std::ranges::any_of(stalls, has_hidden)) {
    text += "arguments and paths are not shown: run with sudo, or log in, to see them\n";
  }
  return text;
}

// Says how many threads wait for as long and are neither told nor shown, so that nobody takes them
// for nothing.
std::string untold_text(const Json& answer) {
  const Json& counts = member(answer, "not_told");
  const Json& stalls = member(answer, "stalls");
  const auto shown = static_cast<std::uint64_t>(std::ranges::count_if(stalls, is_untold));
  const bool were_asked_for = std::ranges::any_of(stalls, [](const Json& stall) {
    return is_untold(stall) && text_of(stall, "for") == "unknown";
  });
  std::string text;
  const auto append = [&](std::uint64_t threads, std::string_view what) {
    if (threads == 0) return;
    text += (text.empty() ? "left out, though as long: " : ", ") + count_text(threads) +
            std::string(what);
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

std::string summary(const Json& answer, std::size_t shown) {
  std::string text = untold_text(answer);
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
  std::vector<Row> rows = {{"STATE", "LASTS", "THREADS", "FOR", "SITE", "PROCESS/THREAD", "PID/TID",
                            "UNIT OR CGROUP", "WAITS FOR"}};
  for (const StallGroup& group : groups) rows.push_back(row_of(group));
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
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
std::string place_of(const Json& wait) {
  std::string place;
  for (const std::string& part : {where_text(wait), text_of(wait, "process"),
                                  text_of(wait, "reason"), member(wait, "user_stack").dump()}) {
    place.append(part).append(1, '\n');
  }
  return place;
}

// Unusual waits, in a table of their own, because they are not certain to be stalls.
std::string unusual_text(const Json& answer, bool verbose) {
  const Json& waits = member(answer, "unusual");
  if (!waits.is_array() || waits.empty()) return {};
  return "unusual: nobody can tell what for, but waits there are far shorter, and the unit has "
         "work to do\n" +
         table_of(groups_of(waits, place_of), verbose);
}

}  // namespace

Result<std::string> stalls_text(const std::string& json, bool verbose) {
  const Json answer = Json::parse(json, nullptr, false);
  const Json& stalls = member(answer, "stalls");
  if (!stalls.is_array()) return Error("the answer is not a list of stalls of offcpud");
  const std::string unusual = unusual_text(answer, verbose);
  if (stalls.empty()) {
    return "nothing is stuck; offcpuctl why says who waits for a shorter time\n" + unusual +
           summary(answer, 0);
  }
  return table_of(groups_of(stalls, cause_of), verbose) + footnotes(answer, stalls, verbose) +
         unusual + summary(answer, stalls.size());
}

}  // namespace offcpud
