// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "attribution/cgroup_filter.h"
#include "base/result.h"

namespace offcpud {

// What the queries of all endpoints have in common. Errors are ErrorKind::Usage: a sentence that
// names the parameter and what it may be.
using Parameters = std::multimap<std::string, std::string>;

Error refusal(const std::string& sentence);
Error bad_value(std::string_view name, std::string_view value, const std::string& allowed);
Error unknown_parameter(std::string_view name, const std::string& known);
Error given_twice(std::string_view name);

// Calls `set(name, value)` for each parameter, up to the first error. None may be given twice.
template <class Set>
Status set_each(const Parameters& parameters, const Set& set) {
  for (const auto& [name, value] : parameters) {
    if (parameters.count(name) > 1) return given_twice(name);
    TRY_VOID(set(name, value));
  }
  return {};
}

// All of the text must be a number that fits; else `number` is not what it was.
template <class Number>
bool is_number(const std::string& value, Number& number) {
  const char* const end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, number);
  return code == std::errc{} && stop == end;
}

template <class Number>
Status set_number(Number& number, std::string_view name, const std::string& value) {
  if (is_number(value, number)) return {};
  return bad_value(name, value, "a whole number such as 1234");
}

Status set_flag(bool& flag, std::string_view name, const std::string& value);
Status set_text(std::string& text, std::string_view name, const std::string& value,
                const char* allowed = "a text that is not empty");

// The parameter cgroup.
Status set_cgroup(CgroupFilter& cgroup, const std::string& value);

// The reasons of blocked time: "disk, lock, ...".
std::string reason_names();

}  // namespace offcpud
