// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/query_path.h"

namespace offcpud {

inline constexpr const char* kCgroupHelp =
    "Only this cgroup (a path), or unit such as nginx.service, and what is below";

// An option ("-p,--pid") whose value the daemon is asked with, as the parameter `name`; `label` as
// in "TEXT". `query` must outlive the parsing.
inline CLI::Option* add_query_option(CLI::App& command, QueryParameters& query,
                                     const std::string& flags, const std::string& name,
                                     const std::string& label, const std::string& what) {
  const auto add = [&query, name](const std::string& value) { query.emplace_back(name, value); };
  return command.add_option_function<std::string>(flags, add, what)->type_name(label);
}

// A flag that asks for the parameter `name` with `value`. `query` must outlive the parsing.
inline CLI::Option* add_query_flag(CLI::App& command, QueryParameters& query,
                                   const std::string& flags, const std::string& name,
                                   const std::string& value, const std::string& what) {
  const auto add = [&query, name, value] { query.emplace_back(name, value); };
  return command.add_flag_callback(flags, add, what);
}

inline CLI::Option* add_no_idle(CLI::App& command, QueryParameters& query) {
  return add_query_flag(command, query, "--no-idle", "idle", "false",
                        "Without poll, sleep, child and condvar, and kernel threads without work");
}

}  // namespace offcpud
