// SPDX-License-Identifier: Apache-2.0
#include "ctl/stack_lines.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/amount_text.h"
#include "base/duration_text.h"
#include "ctl/answer_columns.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTimeColumns = 11, kPurposeColumns = 30;

// The functions below throw if the answer has another form.

std::string functions_of(const AnswerColumns& columns, const Json& row) {
  std::string program, kernel;
  const Json& stack = columns.stack(row);
  for (std::size_t i = stack.size(); i > 0; --i) {
    const Json& frame = columns.entry("frames", stack[i - 1]);
    std::string& part = whole_number<int>(frame.at(2)) != 0 ? kernel : program;
    part += (part.empty() ? "" : " < ") + columns.string(frame.at(0));
  }
  return program.empty() ? kernel : program;
}

// "lock: postgresql-heavyweight-lock"
std::string purpose_of(const AnswerColumns& columns, const Json& row) {
  if (!columns.has("for") || !columns.has("site")) return {};
  const std::string& site = columns.string(columns.cell(row, "site"));
  return columns.string(columns.cell(row, "for")) + (site.empty() ? "" : ": " + site);
}

bool is_for_own_child(const AnswerColumns& columns, const Json& row) {
  return columns.has("reason") && columns.string(columns.cell(row, "reason")) == "child";
}

StackLines lines_of(const Json& answer) {
  const AnswerColumns columns(answer);
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
  for (const Json& row : answer.at("rows")) {
    if (is_for_own_child(columns, row)) continue;
    sums[{purpose_of(columns, row), functions_of(columns, row)}] += columns.number(row, "ns");
  }
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  for (const auto& [stack, ns] : sums) {
    const std::string time = duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
    lines.emplace_back(ns, right_aligned(time, kTimeColumns) + "  " +
                               left_aligned(stack.first, kPurposeColumns) + "  " + stack.second);
  }
  std::ranges::stable_sort(lines, [](const auto& a, const auto& b) { return a.first > b.first; });
  StackLines texts;
  for (auto& [ns, line] : lines) texts.push_back(std::move(line));
  return texts;
}

}  // namespace

Result<StackLines> stack_lines(const std::string& json) {
  try {
    return lines_of(Json::parse(json));
  } catch (const std::exception&) {
    return Error("the answer has no stacks of offcpud", ErrorKind::Unsupported);
  }
}

}  // namespace offcpud
