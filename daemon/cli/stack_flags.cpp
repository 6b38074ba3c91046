// SPDX-License-Identifier: Apache-2.0
#include "cli/stack_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/query_option.h"
#include "config/duration.h"

namespace offcpud {
namespace {

std::string parameter_of(std::string flag) {
  std::ranges::replace(flag, '-', '_');
  return flag;
}

// Refuses flags about stacks with a list of files.
Status refuse_parameters_of_stacks(const QueryParameters& query) {
  const auto found = std::ranges::find_if(query, [](const auto& parameter) {
    const std::string& name = parameter.first;
    return name == "sequence" || name == "frames" || name == "normalize" ||
           name.starts_with("base_");
  });
  if (found == query.end()) return {};
  std::string flag = found->first;
  std::ranges::replace(flag, '_', '-');
  return Error("--" + flag + " needs stacks; add --folded, --offwake or --pprof", ErrorKind::Usage);
}

}  // namespace

StackFlags::StackFlags(CLI::App& command, CtlOptions& options)
    : command_(command), options_(options) {
  add_parameter("from", "TIME",
                "Begin of the range: 2026-11-20T12:00:00Z, seconds since 1970, or -10min");
  add_parameter("to", "TIME", "End of the range");
  command_.add_option("--last", last_, "A range that ends now, such as 10min")
      ->type_name("TIME")
      ->excludes("--from");
  add_parameter("sequence", "N", "Only the snapshot with this number, whatever its time");
  add_filters();
  add_difference();
}

void StackFlags::add_parameter(const std::string& flag, const std::string& label,
                               const std::string& what) {
  add_query_option(command_, options_.query, "--" + flag, parameter_of(flag), label, what);
}

void StackFlags::add_filters() {
  add_parameter("cgroup", "CGROUP", kCgroupHelp);
  add_parameter("comm", "NAME", "Only this process or thread");
  add_parameter("pid", "PID", "Only this process");
  add_parameter("reason", "REASON", "Only these reasons, with commas: lock,disk");
  add_parameter("for", "FOR", kForHelp);
  add_parameter("site", "SITE", kSiteHelp);
  add_no_idle(command_, options_.query);
  add_parameter("frame", "TEXT", "Only stacks with this in the name of a function or object");
  add_parameter("stack", "ID", "Only this stack, as the exemplars of histograms name it");
  add_parameter("threads", "WHICH", "user or kernel: threads with, or without, a user stack");
  add_parameter("frames", "WHICH", "user or kernel: only this part of the stacks");
}

void StackFlags::add_difference() {
  add_parameter("base-from", "TIME", "Compare with an earlier range: its begin");
  add_parameter("base-to", "TIME", "End of the earlier range; default: begin of the later one");
  add_parameter("base-sequence", "N", "Compare with this snapshot");
  add_query_flag(command_, options_.query, "--normalize", "normalize", "true",
                 "Scale the earlier range to the length of the later one");
}

Status StackFlags::finish() {
  if (!last_.empty()) {
    const auto parsed = parse_duration(last_);
    if (!parsed) return Error("--last: " + parsed.error().message(), ErrorKind::Usage);
    options_.query.emplace_back("from", "-" + last_);
  }
  return {};
}

void add_snapshots(CLI::App& command, CtlOptions& options) {
  auto* const formats =
      command.add_option_group("format", "Print stacks instead of a list of files");
  for (const char* const format : {"folded", "offwake", "pprof"}) {
    formats->add_flag_callback(
        "--" + std::string(format), [&options, format] { options.format = format; },
        format == std::string("offwake")  ? "As folded, with the waker's stack, for --color=chain"
        : format == std::string("folded") ? "For flamegraph.pl, speedscope and Pyroscope"
                                          : "For go tool pprof");
  }
  formats->require_option(0, 1);
  command.add_option("-o,--output", options.output, "Write the stacks to this file")
      ->type_name("FILE");
}

Status finish_snapshots(CtlOptions& options) {
  options.command = options.format.empty() ? CtlCommand::ShowSnapshots : CtlCommand::FetchStacks;
  if (options.format.empty() && !options.output.empty()) {
    return Error("-o needs --folded, --offwake or --pprof", ErrorKind::Usage);
  }
  if (!options.format.empty() && options.json) {
    return Error("--json is a format of the list; leave out --json or the other format",
                 ErrorKind::Usage);
  }
  if (!options.format.empty()) options.query.emplace_back("format", options.format);
  if (options.format.empty()) TRY_VOID(refuse_parameters_of_stacks(options.query));
  return {};
}

void add_flame(CLI::App& command, CtlOptions& options) {
  command.add_option("-o,--output", options.output, "The page of HTML to write: FILE.html")
      ->type_name("FILE")
      ->required();
}

Status finish_flame(CtlOptions& options) {
  options.command = CtlCommand::DrawFlame;
  if (!options.output.ends_with(".html")) {
    return Error(
        "-o: the name has to end in .html; for a picture give 'offcpuctl snapshots --folded' to "
        "flamegraph.pl",
        ErrorKind::Usage);
  }
  return {};
}

}  // namespace offcpud
