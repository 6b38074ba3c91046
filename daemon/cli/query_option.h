// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "ctl/query_path.h"

namespace offcpud {

// An option ("-p,--pid") whose value the daemon is asked with, as the parameter `name`; `label` as
// in "TEXT". `query` must outlive the parsing.
inline CLI::Option* add_query_option(CLI::App& command, QueryParameters& query,
                                     const std::string& flags, const std::string& name,
                                     const std::string& label, const std::string& what) {
  const auto add = [&query, name](const std::string& value) { query.emplace_back(name, value); };
  return command.add_option_function<std::string>(flags, add, what)->type_name(label);
}

}  // namespace offcpud
