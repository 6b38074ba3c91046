// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "api/goroutines_answer.h"
#include "base/duration_text.h"

namespace offcpud {
namespace {

// "1 goroutine", "3 goroutines".
std::string goroutines(std::uint64_t number) {
  return std::to_string(number) + (number == 1 ? " goroutine" : " goroutines");
}

std::string head_of(const GoroutineReport& report) {
  const GoroutineLook& look = report.look;
  std::string text = report.program + " (process " + std::to_string(report.pid) + ", " +
                     report.version + "): " + goroutines(look.looked_at - look.ended);
  if (look.looked_at < look.all) {
    text += " of the " + std::to_string(look.looked_at) + " that were looked at, of " +
            std::to_string(look.all) + ", spread evenly, ended ones among them";
  }
  text += "; waiting: " + std::to_string(look.waiting.size()) +
          ", running: " + std::to_string(look.running) +
          ", waiting for a CPU: " + std::to_string(look.runnable) +
          ", in system calls: " + std::to_string(look.in_call);
  return text + "\n";
}

// Of which moment ages are, and why `why` may know longer ones of the same waits.
std::string ages_text(const GoroutineReport& report) {
  const auto has_age = [](const GoroutineGroup& group) {
    return !group.is_runtime && group.longest;
  };
  if (std::ranges::none_of(report.groups.shown, has_age)) return {};
  return "ages: as of now, from looks within " + duration_text(report.took) +
         " and from garbage collections; offcpuctl why " + std::to_string(report.pid) +
         ", which looks all the time, may know longer ones\n";
}

// Leaves out the runtime's own functions at the innermost end: they say no more than the reason.
std::size_t first_told(const GoroutineGroup& group) {
  const auto is_told = [](std::string_view name) { return !name.starts_with("runtime."); };
  const auto first = std::ranges::find_if(group.functions, is_told);
  if (first == group.functions.end()) return 0;
  return static_cast<std::size_t>(first - group.functions.begin());
}

std::string group_text(const GoroutineGroup& group) {
  std::string text =
      "\n" + goroutines(group.number) + ": " + (group.reason.empty() ? "unknown" : group.reason);
  if (group.longest) text += ", one for at least " + duration_text(*group.longest);
  text += "\n";
  if (!group.has_stack)
    text += "    (no stack: they changed while they were read, or are too many)\n";
  for (std::size_t i = first_told(group); i < group.functions.size();) {
    const std::string& function = group.functions[i];
    std::size_t times = 0;
    for (; i < group.functions.size() && group.functions[i] == function; ++i) ++times;
    text += "    " + function + (times > 1 ? " (" + std::to_string(times) + " times)" : "") + "\n";
  }
  if (group.has_stack && group.end == GoStack::End::Depth) text += "    (there are more)\n";
  if (group.has_stack && group.end == GoStack::End::Lost) text += "    (the rest is unknown)\n";
  return text;
}

std::string rest_of(const GoroutineReport& report) {
  const GoroutineLook& look = report.look;
  const GoroutineGroups& groups = report.groups;
  std::string text;
  if (groups.left_out > 0) {
    text += "left out (--limit): groups: " + std::to_string(groups.left_out) + "\n";
  }
  if (groups.of_runtime > 0) {
    text += "left out: of the runtime itself: " + goroutines(groups.of_runtime) + "\n";
  }
  if (look.changed > 0) text += "changed while they were read: " + goroutines(look.changed) + "\n";
  if (look.unreadable > 0) text += "could not be read: " + goroutines(look.unreadable) + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string goroutines_text(const GoroutineReport& report) {
  std::string text = head_of(report) + ages_text(report);
  for (const GoroutineGroup& group : report.groups.shown) {
    if (!group.is_runtime) text += group_text(group);
  }
  return text + rest_of(report);
}

}  // namespace offcpud
