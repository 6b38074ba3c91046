// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot_flags.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <utility>

#include "cli/query_option.h"
#include "config/notation.h"

namespace offcpud {
namespace {

// "10s", or "10" as offcputime has it. The bounds are the daemon's.
Result<std::chrono::seconds> length_of(const std::string& text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const auto length = duration_between<std::chrono::seconds>(std::chrono::seconds(1),
                                                             std::chrono::minutes(5), "10s, 1min");
  auto seconds = length.read(bare ? text + "s" : text);
  if (!seconds) return Error("duration: " + seconds.error().message(), ErrorKind::Usage);
  return seconds;
}

}  // namespace

SnapshotFlags::SnapshotFlags(CLI::App& command, CtlOptions& options)
    : command_(command), options_(options) {
  command_
      .add_option("duration", length_, "How long to sample, at most 5min; seconds without a unit")
      ->type_name("TIME")
      ->capture_default_str();
  add_parameter("-p,--pid", "pid", "PID", "Only this process");
  add_parameter("-t,--tid", "tid", "TID", "Only this thread");
  auto* const user = command_.add_flag("-u,--user-threads-only", user_threads_,
                                       "Only threads of programs, not of the kernel");
  command_.add_flag("-k,--kernel-threads-only", kernel_threads_, "Only threads of the kernel")
      ->excludes(user);
  auto* const user_part =
      command_.add_flag("-U,--user-stacks-only", user_stacks_, "Without functions of the kernel");
  command_.add_flag("-K,--kernel-stacks-only", kernel_stacks_, "Without functions of programs")
      ->excludes(user_part);
  add_parameter("-m,--min-block-time", "min_us", "US",
                "Only blocks of at least this many microseconds");
  add_parameter("-M,--max-block-time", "max_us", "US",
                "Only blocks of at most this many microseconds");
  add_parameter("--state", "state", "BITS",
                "Only threads that left the CPU in one of these states: 1 interruptible, 2 "
                "uninterruptible, 4 stopped");
  add_parameter("--cgroup", "cgroup", "CGROUP", kCgroupHelp);
  add_parameter("--comm", "comm", "NAME", "Only this process or thread");
  add_parameter("--reason", "reason", "REASON", "Only these reasons, with commas: lock,disk");
  add_parameter("--for", "for", "FOR", kForHelp);
  add_parameter("--site", "site", "SITE", kSiteHelp);
  add_no_idle(command_, options_.query);
  command_.add_flag("-d,--delimited", options_.delimited,
                    "Print a delimiter between kernel and user functions");
  auto* const folded =
      command_.add_flag("-f,--folded", folded_, "One line for each stack, for flamegraph.pl");
  command_.add_flag("-w,--wakers", off_wake_, "As -f, with the waker's stack, for --color=chain")
      ->excludes(folded);
  command_.add_option("-o,--output", options_.output, "Write to this file")->type_name("FILE");
}

void SnapshotFlags::add_parameter(const std::string& flags, const std::string& name,
                                  const std::string& label, const std::string& what) {
  add_query_option(command_, options_.query, flags, name, label, what);
}

Status SnapshotFlags::finish() {
  options_.command = CtlCommand::TakeSnapshot;
  TRY(const auto length, length_of(length_));
  options_.seconds = static_cast<unsigned>(length.count());
  options_.format = folded_ ? "folded" : off_wake_ ? "offwake" : "json";
  if (options_.json && (folded_ || off_wake_)) {
    return Error("--json is another format than -f and -w; leave one of them out",
                 ErrorKind::Usage);
  }
  const auto add = [this](const char* name, const std::string& value) {
    options_.query.emplace_back(name, value);
  };
  add("seconds", std::to_string(options_.seconds));
  add("format", options_.format);
  if (folded_ || off_wake_) add("annotate", "false");
  if (user_threads_ || kernel_threads_) add("threads", user_threads_ ? "user" : "kernel");
  if (user_stacks_ || kernel_stacks_) add("frames", user_stacks_ ? "user" : "kernel");
  return {};
}

}  // namespace offcpud
