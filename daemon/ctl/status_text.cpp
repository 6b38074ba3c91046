// SPDX-License-Identifier: Apache-2.0
#include "ctl/status_text.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "config/printable.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order the daemon chose

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kIndent = 2;

// Parses without exceptions; a discarded value if the text is not JSON.
Json parsed(const std::string& json) {
  return Json::parse(json, nullptr, false);
}

std::string scalar_text(const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "-";
  return value.dump();  // numbers
}

bool all_scalars(const Json& list) {
  return std::none_of(list.begin(), list.end(), [](const Json& v) { return v.is_structured(); });
}

std::string list_text(const Json& list) {
  std::string text;
  for (const Json& value : list) text += (text.empty() ? "" : ", ") + scalar_text(value);
  return text.empty() ? "none" : text;
}

bool fits_one_line(const Json& value) {
  return value.empty() || !value.is_structured() || (value.is_array() && all_scalars(value));
}

std::string line_text(const Json& value) {
  return value.is_structured() ? list_text(value) : scalar_text(value);
}

void append(std::string& out, const Json& value, std::size_t depth);

void append_object(std::string& out, const Json& object, std::size_t depth) {
  const std::string indent(depth * kIndent, ' ');
  std::size_t width = 0;
  for (const auto& [name, value] : object.items()) {
    if (fits_one_line(value)) width = std::max(width, printable(name).size());
  }
  for (const auto& [name, value] : object.items()) {
    std::string label = printable(name);
    if (fits_one_line(value)) {
      label.resize(width, ' ');
      out += indent + label + "  " + line_text(value) + "\n";
    } else {
      out += indent + label + ":\n";
      append(out, value, depth + 1);
    }
  }
}

void append_list(std::string& out, const Json& list, std::size_t depth) {
  const std::string indent(depth * kIndent, ' ');
  for (const Json& value : list) {
    if (fits_one_line(value)) {
      out += indent + "- " + line_text(value) + "\n";
      continue;
    }
    const std::size_t start = out.size();
    append(out, value, depth + 1);
    out[start + indent.size()] = '-';  // in the indentation of the first line
  }
}

void append(std::string& out, const Json& value, std::size_t depth) {
  if (depth > kDeepest) {
    out += std::string(depth * kIndent, ' ') + "...\n";
  } else if (value.is_object()) {
    append_object(out, value, depth);
  } else {
    append_list(out, value, depth);
  }
}

}  // namespace

Result<std::string> status_text(const std::string& json) {
  const Json status = parsed(json);
  if (!status.is_object()) return Error("the answer is not a status of offcpud");
  std::string text;
  append(text, status, 0);
  return text;
}

std::string error_sentence(const std::string& json) {
  const Json answer = parsed(json);
  if (!answer.is_object()) return {};
  const auto error = answer.find("error");
  return error != answer.end() && error->is_string() ? scalar_text(*error) : std::string();
}

}  // namespace offcpud
