// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
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

// Any text that is not empty.
Notation<std::string> some_text(std::string allowed = "a text that is not empty");

Notation<CgroupFilter> cgroup_filter();

// A reason of blocked time, as enum offcpud_hist_kind.
Notation<std::size_t> blocked_reason();

// What a wait is for.
Notation<WaitFor> wait_for_name();

}  // namespace offcpud
