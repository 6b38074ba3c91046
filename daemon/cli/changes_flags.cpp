// SPDX-License-Identifier: Apache-2.0
#include "cli/changes_flags.h"

#include <CLI/CLI.hpp>

#include "cli/query_option.h"
#include "config/duration.h"

namespace offcpud {

ChangesFlags::ChangesFlags(CLI::App& command, CtlOptions& options) : options_(options) {
  const auto add = [&](const char* flag, const char* name, const char* label, const char* what) {
    return add_query_option(command, options.query, flag, name, label, what);
  };
  auto* const from = add("--from", "from", "TIME",
                         "Begin of the later range: 2026-11-20T12:00:00Z, seconds since 1970, or "
                         "-10min, which is the default");
  auto* const to = add("--to", "to", "TIME", "End of the later range; default: now");
  command.add_option("--last", last_, "A later range that ends now, such as 5min")
      ->type_name("TIME")
      ->excludes(from)
      ->excludes(to);
  add("--base-from", "base_from", "TIME",
      "Begin of the earlier range; default: an hour before its end");
  add("--base-to", "base_to", "TIME",
      "End of the earlier range; default: the begin of the later one");
  add("--cgroup", "cgroup", "CGROUP", kCgroupHelp);
  add("--for", "for", "WHAT",
      "Only waits for these, with commas: lock,answer; cpu and throttled: for a CPU");
  add("--site", "site", "SITE", kSiteHelp);
  add_query_flag(command, options.query, "--idle", "idle", "true",
                 "Also waits for work, for timers and for children of one's own");
  add("--limit", "limit", "N", "At most this many rows; default: 20");
  add_stacks_flag(command, options.verbose);
}

Status ChangesFlags::finish() {
  options_.command = CtlCommand::ShowChanges;
  if (!options_.json) options_.query.emplace_back("format", "text");
  if (last_.empty()) return {};
  const auto parsed = parse_duration(last_);
  if (!parsed) return Error("--last: " + parsed.error().message(), ErrorKind::Usage);
  options_.query.emplace_back("from", "-" + last_);
  return {};
}

}  // namespace offcpud
