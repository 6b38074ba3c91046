// SPDX-License-Identifier: Apache-2.0
#include "ctl/stall_parts.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/interpreted_name.h"
#include "base/no_unit.h"
#include "base/printable.h"
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

constexpr std::size_t kStackFrames = 6;  // the innermost ones; --json has all
constexpr std::size_t kOwnFrames = 3;    // of the program itself, if they are further out

// "worker[101]"
std::string numbered(const StallJson& of, const char* name, const char* number) {
  return or_dash(text_of(of, name)) + "[" + or_dash(text_of(of, number)) + "]";
}

// "worker[101] in server[100]"; the main thread, and the owner of a file lock, "backup[812]".
std::string holder_text(const StallJson& holder) {
  const std::string process = numbered(holder, "process", "pid");
  const std::string thread = numbered(holder, "comm", "tid");
  const bool is_process = text_of(holder, "lock") == "file_lock" || thread == process;
  return is_process ? process : thread + " in " + process;
}

// "mutex", "file lock".
std::string lock_text(const StallJson& holder) {
  std::string lock = text_of(holder, "lock");
  if (lock == "python_gil") return "GIL of Python";
  std::ranges::replace(lock, '_', ' ');
  return lock;
}

std::string deadlock_text(const StallJson& holder) {
  return member(holder, "deadlock") == StallJson(true) ? ", a deadlock" : "";
}

// ", waits, for 12 s now"; empty: nobody knows what the holder does.
std::string deed_text(const StallJson& holder) {
  const std::string does = text_of(holder, "does");
  if (does != "runs" && does != "waits") return {};
  const StallJson& seconds = member(holder, "does_seconds");
  if (!seconds.is_number()) return ", " + does;
  const bool is_estimated = member(holder, "does_estimated") == StallJson(true);
  const char* const or_waits = does == "runs" ? " or waits for a CPU" : "";
  return ", " + does + or_waits + ", for " + age_cell(seconds.get<double>(), is_estimated) + " now";
}

// Printable, without the offsets of kernel functions.
std::vector<std::string> functions_of(const StallJson& stack) {
  std::vector<std::string> functions;
  for (const StallJson& frame : stack.is_array() ? stack : StallJson::array()) {
    if (!frame.is_string()) continue;
    std::string function = printable(frame.get_ref<const std::string&>());
    const std::size_t offset = function.find("+0x");
    if (offset != std::string::npos) function.resize(offset);
    functions.push_back(std::move(function));
  }
  return functions;
}

// "Shop.pay (till.py:12)"; functions of objects end in the object's name, "read [libc.so.6]".
bool is_interpreted(const std::string& function) {
  return interpreted_name(function).file.find(".py") != std::string_view::npos;
}

// Whether it is in a library, "read [libc.so.6]", "[vdso]", or an entry that says why the stack
// ends.
bool is_foreign(const std::string& function) {
  constexpr std::string_view kLibrary = ".so";
  if (function.starts_with('[')) return true;
  for (std::size_t at = function.find(kLibrary); at != std::string::npos;
       at = function.find(kLibrary, at + 1)) {
    const std::size_t end = at + kLibrary.size();  // not of "slices.sort"
    if (end == function.size() || function[end] == '.' || function[end] == ']') return true;
  }
  return false;
}

// The innermost function that people know as their own: of Python if there is one, because the
// program's file is then the interpreter, else the first that is in no library.
std::size_t first_own(const std::vector<std::string>& functions) {
  auto own = std::ranges::find_if(functions, is_interpreted);
  if (own == functions.end()) own = std::ranges::find_if_not(functions, is_foreign);
  return static_cast<std::size_t>(own - functions.begin());
}

}  // namespace

std::string text_of(const StallJson& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  if (found->is_string()) return printable(found->get_ref<const std::string&>());
  return found->is_structured() ? std::string() : found->dump();
}

const StallJson& member(const StallJson& object, const char* name) {
  static const StallJson nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::uint64_t number_of(const StallJson& object, const char* name) {
  const StallJson& value = member(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

bool is_estimated(const StallJson& stall) {
  return member(stall, "estimated") == StallJson(true);
}

bool is_unsure(const StallJson& stall) {
  return member(stall, "certain") == StallJson(false) &&
         member(stall, "for") != StallJson("unknown");
}

std::string age_text(const StallJson& stall) {
  const StallJson& seconds = member(stall, "duration_seconds");
  if (!seconds.is_number()) return "-";
  return age_cell(seconds.get<double>(), is_estimated(stall));
}

std::string comm_text(const StallJson& stall) {
  const std::string comm = text_of(stall, "comm");
  const std::string process = text_of(stall, "process");
  return or_dash(process.empty() || process == comm ? comm : process + "/" + comm);
}

std::string where_text(const StallJson& stall) {
  const std::string unit = text_of(stall, "unit"), cgroup = text_of(stall, "cgroup");
  if (unit.empty() && cgroup == "/") return kNoUnit;
  return or_dash(unit.empty() ? cgroup : unit);
}

std::string ids_text(const StallJson& stall) {
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

std::string syscall_text(const StallJson& stall) {
  const StallJson& syscall = member(stall, "syscall");
  const std::string name = text_of(syscall, "name");
  const std::string number = text_of(syscall, "number");
  if (name.empty() && number.empty()) return {};
  const StallJson& list = member(syscall, "arguments");
  std::string arguments = list.is_array() ? "" : "...";  // hidden from this user: docs/security.md
  for (const StallJson& argument : list.is_array() ? list : StallJson::array()) {
    if (!argument.is_string()) continue;
    arguments +=
        (arguments.empty() ? "" : ", ") + printable(argument.get_ref<const std::string&>());
  }
  return (name.empty() ? "system call " + number : name) + "(" + arguments + ")";
}

// "a writer of the FIFO"
std::string fifo_text(const StallJson& file) {
  const std::string lacks = text_of(file, "lacks");
  if (lacks.empty()) return {};
  return (lacks.starts_with('o') ? "the " : "a ") + lacks + " of the FIFO";
}

std::string waits_for_text(const StallJson& stall) {
  const StallJson& waits_for = member(stall, "waits_for");
  const StallJson& futex = member(waits_for, "futex");
  const StallJson& file = member(waits_for, "file");
  const StallJson& owner = member(futex, "owner");
  const std::string address = text_of(futex, "address");
  const std::string held = owner.is_object() ? "held by " + numbered(owner, "comm", "tid") : "";
  return join({prefixed("futex ", address.empty() ? text_of(futex, "id") : address), held,
               fifo_text(file), prefixed("fd ", text_of(file, "fd")), text_of(file, "path"),
               text_of(waits_for, "socket"), prefixed("on ", text_of(file, "device"))});
}

std::string waits_on_text(const StallJson& stall) {
  const StallJson& peer = member(stall, "waits_on");
  const std::string on = text_of(peer, "on");
  return join({on == "/" ? kNoUnit : on,
               text_of(peer, "pid").empty() ? "" : "(" + numbered(peer, "comm", "pid") + ")"});
}

std::string lock_of_text(const StallJson& stall) {
  const StallJson& holder = member(stall, "held_by");
  if (!holder.is_object()) return {};
  return lock_text(holder) + " of " + holder_text(holder) + deadlock_text(holder);
}

std::string held_by_text(const StallJson& stall) {
  const StallJson& holder = member(stall, "held_by");
  if (!holder.is_object()) return {};
  return holder_text(holder) + " (" + lock_text(holder) + ")" + deadlock_text(holder) +
         deed_text(holder);
}

std::string released_by_text(const StallJson& stall) {
  const StallJson& released = member(stall, "released_by");
  const StallJson& by = member(released, "by");
  if (!by.is_array() || by.empty()) return {};
  const StallJson& most = by.front();
  const StallJson &share = member(most, "share"), &error = member(most, "error");
  if (!share.is_number() || !error.is_number()) return {};
  const std::string pid = text_of(most, "pid"), tid = text_of(most, "tid");
  const std::string thread = text_of(most, "thread");
  const std::string process =
      pid.empty() ? or_dash(text_of(most, "process")) : numbered(most, "process", "pid");
  const bool is_thread = !thread.empty() && (tid.empty() || tid != pid);
  const std::string by_thread = tid.empty() ? thread : numbered(most, "thread", "tid");
  return "by " + (is_thread ? by_thread + " in " + process : process) + ", " +
         share_text(std::clamp(share.get<double>(), 0.0, 1.0)) + " ± " +
         share_text(std::clamp(error.get<double>(), 0.0, 1.0)) + " of the time of " +
         count_text(number_of(released, "seen")) + " waits seen";
}

std::string stack_text(const StallJson& stall, const char* name) {
  const std::vector<std::string> functions = functions_of(member(stall, name));
  const std::size_t own = first_own(functions);
  // The first frame that is shown after a gap, if the stack `goes_on` beyond the innermost ones.
  const std::size_t resume = std::max(own, kStackFrames);
  const bool goes_on = own < functions.size() && own + kOwnFrames > kStackFrames;
  std::string text;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const bool is_shown = i < kStackFrames || (goes_on && i >= resume && i < own + kOwnFrames);
    if (is_shown) {
      text += (text.empty() ? "" : " < ") + functions[i];
    } else if (!text.ends_with(kFurther)) {
      text += kFurther;
    }
  }
  return text;
}

std::string woken_by_text(const StallJson& stall) {
  const StallJson& waker = member(stall, "woken_by");
  return join({text_of(waker, "from"),
               text_of(waker, "tid").empty() ? "" : numbered(waker, "comm", "tid")});
}

std::string since_text(const StallJson& stall) {
  constexpr std::size_t kToSeconds = 19;
  std::string since = text_of(stall, "since");
  if (!is_estimated(stall) || since.size() <= kToSeconds || since[kToSeconds] != '.') return since;
  return since.substr(0, kToSeconds) + "Z";
}

}  // namespace offcpud
