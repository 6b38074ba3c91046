// SPDX-License-Identifier: Apache-2.0
#include "ctl/stalls_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kStackFrames = 6;  // the innermost ones; --json has all
constexpr std::size_t kColumns = 6;
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

// "12.6s", "3min20s"; "~" before an estimate.
std::string age_text(const Json& stall) {
  const Json& seconds = member(stall, "duration_seconds");
  if (!seconds.is_number()) return "-";
  const std::string text = duration_cell(seconds.get<double>());
  return member(stall, "estimated") == Json(true) ? "~" + text : text;
}

std::string comm_text(const Json& stall) {
  const std::string comm = text_of(stall, "comm");
  const std::string process = text_of(stall, "process");
  return or_dash(process.empty() || process == comm ? comm : process + "/" + comm);
}

Row row_of(const Json& stall) {
  const bool ended = text_of(stall, "state") == "ended";
  std::string state = ended ? "ended" : "blocked";
  if (ended && member(stall, "ended_at").is_null()) state = "gone";
  return {state,
          age_text(stall),
          or_dash(text_of(stall, "pid")) + "/" + or_dash(text_of(stall, "tid")),
          or_dash(text_of(stall, "reason")),
          comm_text(stall),
          or_dash(text_of(stall, "cgroup"))};
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

std::string stack_text(const Json& stall) {
  std::string text;
  std::size_t frames = 0;
  const Json& stack = member(stall, "stack");
  for (const Json& frame : stack.is_array() ? stack : Json::array()) {
    if (!frame.is_string()) continue;
    if (frames++ == kStackFrames) return text + " < ...";
    std::string name = printable(frame.get_ref<const std::string&>());
    const std::size_t offset = name.find("+0x");
    if (offset != std::string::npos) name.resize(offset);
    text += (text.empty() ? "" : " < ") + name;
  }
  return text;
}

std::string woken_by_text(const Json& stall) {
  const Json& waker = member(stall, "woken_by");
  const std::string comm = text_of(waker, "comm");
  const std::string tid = text_of(waker, "tid");
  return join({text_of(waker, "from"), tid.empty() ? "" : or_dash(comm) + "[" + tid + "]"});
}

std::string details(const Json& stall) {
  const struct {
    std::string_view label;
    std::string text;
  } lines[] = {{"since      ", text_of(stall, "since")},
               {"in         ", syscall_text(stall)},
               {"waits for  ", waits_for_text(stall)},
               {"stack      ", stack_text(stall)},
               {"woken by   ", woken_by_text(stall)}};
  std::string text;
  for (const auto& line : lines) {
    if (!line.text.empty()) text.append(kIndent).append(line.label).append(line.text).append("\n");
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

std::string summary(const Json& answer, std::size_t shown) {
  std::string text;
  if (const std::uint64_t matching = number_of(answer, "matching"); matching > shown) {
    text += std::to_string(matching - shown) + " more are not shown\n";
  }
  if (const std::uint64_t dropped = number_of(answer, "dropped"); dropped > 0) {
    text += std::to_string(dropped) + " older ones are not kept (stalls.keep)\n";
  }
  return text;
}

}  // namespace

Result<std::string> stalls_text(const std::string& json) {
  const Json answer = Json::parse(json, nullptr, false);
  const Json& stalls = member(answer, "stalls");
  if (!stalls.is_array()) return Error("the answer is not a list of stalls of offcpud");
  if (stalls.empty()) return "no stalls\n" + summary(answer, 0);

  std::vector<Row> rows = {{"STATE", "FOR", "PID/TID", "REASON", "PROCESS/THREAD", "CGROUP"}};
  for (const Json& stall : stalls) rows.push_back(row_of(stall));
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = line_of(rows.front(), widths);
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    text += line_of(rows[i + 1], widths) + details(stalls[i]);
  }
  return text + summary(answer, stalls.size());
}

}  // namespace offcpud
