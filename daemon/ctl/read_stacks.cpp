// SPDX-License-Identifier: Apache-2.0
#include "ctl/read_stacks.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/wait_for.h"
#include "config/reason_names.h"
#include "ctl/answer_columns.h"
#include "ctl/whole_number.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kKernelMark = "_[k]";
constexpr std::uint64_t kNanosecondsInMicrosecond = 1'000;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(';');
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_label(std::string_view text) {
  return wait_for_named(text).has_value();
}

// "function{object}"
ReadFrame frame_with_object(std::string_view text) {
  const std::size_t open = text.rfind('{');
  if (!text.ends_with('}') || open == std::string_view::npos || open == 0) {
    return {std::string(text), {}};
  }
  return {std::string(text.substr(0, open)),
          std::string(text.substr(open + 1, text.size() - open - 2))};
}

// What stands before the frames: "label;program;phase;reason|exe", "reason|exe", or a comm.
// Returns where the frames begin.
std::size_t read_head(const std::vector<std::string_view>& parts, ReadStack& stack) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{3}}) {
    if (at >= parts.size() || (at == 3 && !is_label(parts.front()))) break;
    const std::size_t bar = parts[at].find('|');
    if (bar == std::string_view::npos) continue;
    const auto reason = reason_named(parts[at].substr(0, bar));
    if (!reason) continue;
    stack.reason = reason;
    stack.exe = parts[at].substr(bar + 1);
    if (at == 3) stack.label = parts.front();
    return at + 1;
  }
  stack.exe = parts.front();
  return 1;
}

Result<ReadStack> read_folded_line(std::string_view line) {
  ReadStack stack;
  const std::size_t space = line.rfind(' ');
  const std::string_view number =
      space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  const char* const end = number.data() + number.size();
  const auto [stop, code] = std::from_chars(number.data(), end, stack.us);
  if (number.empty() || code != std::errc{} || stop != end) {
    return Error("does not end in a space and a number of microseconds");
  }
  const std::vector<std::string_view> parts = split(line.substr(0, space));
  std::size_t at = read_head(parts, stack);
  bool in_kernel = false;
  for (; at < parts.size(); ++at) {
    std::string_view part = parts[at];
    if (part == "--") break;  // what follows is whoever woke it
    if (part == "-") {
      in_kernel = true;
    } else if (in_kernel || part.ends_with(kKernelMark)) {
      if (part.ends_with(kKernelMark)) part.remove_suffix(kKernelMark.size());
      stack.kernel.push_back({std::string(part), {}});
    } else {
      // Names of C++ have braces, too: {lambda()#1}.
      stack.user.push_back(stack.reason ? frame_with_object(part)
                                        : ReadFrame{std::string(part), {}});
    }
  }
  return stack;
}

// The message about a line that is not folded text. If it is the first one, the file is none of
// stacks.
std::string problem_of(std::size_t line, const Error& problem) {
  std::string at = "line " + std::to_string(line) + ": " + problem.message();
  if (line > 1) return at;
  return "neither JSON of 'offcpuctl snapshot --json' nor folded text (a;b;c 123): " + at;
}

Result<std::vector<ReadStack>> read_folded(std::string_view text) {
  std::vector<ReadStack> stacks;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      auto stack = read_folded_line(text.substr(0, end));
      if (!stack) return Error(problem_of(line, stack.error()), ErrorKind::Usage);
      stack->line = line;
      stacks.push_back(*std::move(stack));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return stacks;
}

// Throws where the answer is not what docs/http.md says.
class JsonStacks {
 public:
  explicit JsonStacks(const Json& answer) : answer_(answer), columns_(answer) {}

  std::vector<ReadStack> read() const {
    std::vector<ReadStack> stacks;
    for (const Json& row : answer_.at("rows")) {
      ReadStack stack;
      stack.exe = columns_.string(columns_.cell(row, "comm"));
      stack.reason = reason_named(columns_.string(columns_.cell(row, "reason")));
      stack.us = columns_.number(row, "ns") / kNanosecondsInMicrosecond;
      for (const Json& index : columns_.stack(row)) {
        const Json& frame = columns_.entry("frames", index);
        auto& frames = whole_number<int>(frame.at(2)) != 0 ? stack.kernel : stack.user;
        frames.push_back({columns_.string(frame.at(0)), columns_.string(frame.at(1))});
      }
      stack.line = stacks.size() + 1;
      stacks.push_back(std::move(stack));
    }
    return stacks;
  }

 private:
  const Json& answer_;
  AnswerColumns columns_;
};

Error refusal(const std::string& what) {
  return Error(what + "; make a file of stacks with 'offcpuctl snapshot --json' or --folded",
               ErrorKind::Usage);
}

}  // namespace

Result<std::vector<ReadStack>> read_stacks(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return refusal("has no stacks");
  if (text[begin] != '{' && text[begin] != '[') return read_folded(text);
  try {
    const Json answer = Json::parse(text);
    return JsonStacks(answer).read();
  } catch (const Json::parse_error&) {
    return refusal("is no whole JSON");
  } catch (const std::exception&) {
    return refusal("is JSON, but no stacks of offcpud");
  }
}

}  // namespace offcpud
