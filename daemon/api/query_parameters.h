// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/cgroup_filter.h"
#include "base/printable.h"
#include "base/result.h"
#include "base/wait_for.h"
#include "config/setting.h"

namespace offcpud {

// The parameters of a request, by name. Errors are ErrorKind::Usage: a sentence that names the
// parameter and says what is allowed.
using Parameters = std::multimap<std::string, std::string>;

Error usage_error(const std::string& sentence);

// A parameter whose value goes into what `access(query)` refers to.
template <class Query, class Access, class T>
Setting<Query> parameter(std::string_view name, Access access, const Notation<T>& notation) {
  const auto parse = [=](Query& query, std::string_view text) -> Status {
    TRY(access(query), notation.parse(text));
    return {};
  };
  return {.name = name, .parse = parse, .text = {}, .allowed = notation.allowed};
}

// Sets the values of all parameters. Each must be in the table and be given once.
template <class Query>
Status set_parameters(Query& query, const std::vector<Setting<Query>>& table,
                      const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (parameters.count(name) > 1) {
      return usage_error("parameter " + quotation(name) + " is given twice; give it once");
    }
    const Setting<Query>* const parameter = find_setting(table, name);
    if (parameter == nullptr) {
      return usage_error("unknown parameter " + quotation(name) + "; use " +
                         enumeration(names_of(table), " or "));
    }
    if (!parameter->parse(query, value)) {
      return usage_error("parameter " + name + ": " + quotation(value) + " is not allowed; use " +
                         parameter->allowed);
    }
  }
  return {};
}

// One value or several, separated by commas, as bits. `names` are all that `one` accepts.
template <class Bits, class Value>
Notation<Bits> some_of(const Notation<Value>& one, std::span<const std::string_view> names) {
  const auto parse = [one](std::string_view rest) -> Result<Bits> {
    Bits bits;
    for (bool more = true; more;) {
      const std::size_t comma = rest.find(',');
      TRY(const Value value, one.parse(rest.substr(0, comma)));
      bits.set(static_cast<std::size_t>(value));
      more = comma != std::string_view::npos;
      rest.remove_prefix(more ? comma + 1 : rest.size());
    }
    return bits;
  };
  return {parse, {}, "some of " + enumeration(names) + ", separated by commas"};
}

// Any text that is not empty.
Notation<std::string> some_text(std::string allowed = "a text that is not empty");

// A duration before now, not 0.
Notation<std::chrono::milliseconds> window_length();

Notation<CgroupFilter> cgroup_filter();

// A reason of blocked time, as enum offcpud_hist_kind.
Notation<std::size_t> blocked_reason();

// What a wait is for.
Notation<WaitFor> wait_for_name();

// Whether the answer is text for people.
Notation<bool> json_or_text();

}  // namespace offcpud
