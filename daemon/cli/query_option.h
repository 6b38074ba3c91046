// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/query_path.h"

namespace offcpud {

inline constexpr const char* kCgroupHelp =
    "Only this cgroup (a path), or unit such as nginx.service, and what is below";

inline constexpr const char* kForHelp = "Only waits for these, with commas: lock,answer";
inline constexpr const char* kSiteHelp = "Only waits at this site, such as go-idle-thread";

// Adds an option, such as "-p,--pid", whose value is sent to the daemon as the parameter `name`.
// `label` stands for the value in the help: "TEXT". `query` must outlive the parsing.
inline CLI::Option* add_query_option(CLI::App& command, QueryParameters& query,
                                     const std::string& flags, const std::string& name,
                                     const std::string& label, const std::string& what) {
  const auto add = [&query, name](const std::string& value) { query.emplace_back(name, value); };
  return command.add_option_function<std::string>(flags, add, what)->type_name(label);
}

// Adds a flag that sends the parameter `name` with `value`. `query` must outlive the parsing.
inline CLI::Option* add_query_flag(CLI::App& command, QueryParameters& query,
                                   const std::string& flags, const std::string& name,
                                   const std::string& value, const std::string& what) {
  const auto add = [&query, name, value] { query.emplace_back(name, value); };
  return command.add_flag_callback(flags, add, what);
}

inline void add_no_idle(CLI::App& command, QueryParameters& query) {
  add_query_flag(command, query, "--no-idle", "idle", "false",
                 "Without waits for work, timers and children of one's own; where nobody can tell, "
                 "without the reasons poll, sleep, child, condvar and, of kernel threads, kernel");
}

// Adds the flag that shows the stacks of the waits below the answer.
inline CLI::Option* add_stacks_flag(CLI::App& command, bool& verbose) {
  return command.add_flag("-v,--verbose", verbose,
                          "Also print the ten stacks in which threads waited longest");
}

}  // namespace offcpud
