// SPDX-License-Identifier: Apache-2.0
#include "cli/why_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/query_option.h"

namespace offcpud {

WhyFlags::WhyFlags(CLI::App& command, CtlOptions& options) : options_(options) {
  command
      .add_option("subject", subject_,
                  "A unit such as nginx.service, a cgroup (a path), or the number of a process")
      ->type_name("UNIT|PID");
  add_query_option(command, options.query, "--window", "window", "TIME",
                   "The time before now that counts, 10min at most; default: 20s");
  add_query_option(command, options.query, "--limit", "limit", "N",
                   "At most this many units; default: 5");
  add_stacks_flag(command, options.verbose);
}

Status WhyFlags::finish() {
  options_.command = CtlCommand::ShowWhy;
  if (!options_.json) options_.query.emplace_back("format", "text");
  if (subject_.empty()) return {};
  const bool is_pid = std::ranges::all_of(subject_, [](char c) { return c >= '0' && c <= '9'; });
  options_.query.emplace_back(is_pid ? "pid" : "cgroup", subject_);
  return {};
}

}  // namespace offcpud
