// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl_cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <vector>

#include "base/printable.h"
#include "cli/changes_flags.h"
#include "cli/command_doc.h"
#include "cli/config_flags.h"
#include "cli/explain_flags.h"
#include "cli/query_option.h"
#include "cli/snapshot_flags.h"
#include "cli/stack_flags.h"
#include "cli/why_flags.h"
#include "config/duration.h"

namespace offcpud {
namespace {

constexpr const char* kProgram = "offcpuctl";
constexpr std::chrono::milliseconds kLeastInterval{100};
constexpr const char* kCtlExitCodes =
    "Exit codes: 0 done, 64 usage, 66 what was asked for does not exist, 69 the daemon cannot be\n"
    "reached or is busy, 70 internal error, 73 a file cannot be written, 77 missing permission,\n"
    "78 configuration.";

std::string local_socket_address() {
  return std::string("unix:") + kLocalSocket;
}

// A fragment; parse() adds where the help is.
Error misuse(const std::string& what) {
  return Error(what, ErrorKind::Usage);
}

// `flags` has the names of files that were given.
Result<Server> finish_server(const std::string& text, const Server& flags) {
  auto server = parse_server(text);
  if (!server) {
    return misuse("--server: " + server.error().message() +
                  "; use HOST:PORT, unix:/PATH or https://HOST:PORT");
  }
  if (!server->address.is_unix() && server->address.port == 0) {
    return misuse("--server: the port may not be 0");
  }
  if (!server->tls && !(flags.ca_file.empty() && flags.cert_file.empty())) {
    return misuse("--ca-file and --cert-file need --server https://HOST:PORT");
  }
  if (flags.cert_file.empty() && !flags.key_file.empty()) {
    return misuse("--key-file needs --cert-file");
  }
  Server finished = flags;
  finished.address = std::move(server->address);
  finished.tls = server->tls;
  return finished;
}

// Adds the flags of a command that asks the daemon. `options` must outlive the parsing.
void add_server_flag(CLI::App& command, CtlOptions& options) {
  command
      .add_option("--server", options.server_text,
                  "Address of the daemon, as in listen; https://HOST:PORT for TLS. Without it: " +
                      local_socket_address() + " if a daemon listens there, else " +
                      Config{}.listen)
      ->type_name("ADDR");
  const auto add_file = [&](const char* name, std::string& file, const char* what) {
    // Without a description, which the help would show as a second label.
    const CLI::Validator exists = CLI::Validator(CLI::ExistingFile).description("");
    command.add_option(name, file, what)->type_name("FILE")->check(exists);
  };
  add_file("--ca-file", options.server.ca_file,
           "Authorities that may have signed the daemon's certificate");
  add_file("--netrc-file", options.server.netrc_file, "User and password, in the form of .netrc");
  add_file("--cert-file", options.server.cert_file, "Certificate to show to the daemon");
  add_file("--key-file", options.server.key_file, "Key of that certificate");
}

void add_daemon_flags(CLI::App& command, CtlOptions& options) {
  add_server_flag(command, options);
  command.add_flag("--json", options.json, "Print the daemon's answer unchanged");
}

void add_stalls(CLI::App& stalls, CtlOptions& options, bool& all) {
  add_daemon_flags(stalls, options);
  auto* const state = add_query_option(stalls, options.query, "--state", "state", "STATE",
                                       "in_progress (the default) or ended")
                          ->check(CLI::IsMember({"in_progress", "ended"}));
  stalls.add_flag("--all", all, "Show ended stalls, too")->excludes(state);
  stalls.add_flag(
      "-v,--verbose", options.verbose,
      "Below each line, show stack, system call, and the other threads with that cause");
  add_query_option(stalls, options.query, "--cgroup", "cgroup", "CGROUP", kCgroupHelp);
  add_query_option(stalls, options.query, "--comm", "comm", "NAME", "Only this thread or process");
  add_query_option(stalls, options.query, "--reason", "reason", "REASON",
                   "Only this reason: lock, disk, ...");
  add_query_option(stalls, options.query, "--for", "for", "WHAT",
                   "Only waits for this: lock, answer, ...; unknown: those that are not told");
  add_query_option(stalls, options.query, "--limit", "limit", "N", "At most this many");
}

void finish_stalls(CtlOptions& options, bool all) {
  options.command = CtlCommand::ShowStalls;
  const auto is_state = [](const auto& parameter) { return parameter.first == "state"; };
  if (!all && std::ranges::none_of(options.query, is_state)) {
    options.query.emplace_back("state", "in_progress");
  }
}

constexpr const char* kTopHelp =
    "Show processes, or threads, by the time they wait: on a terminal, until q is pressed\n"
    "(h explains keys and columns); elsewhere, once. PID x12: twelve processes that have ended.";

constexpr const char* kExplainHelp =
    "Say which rule takes each stack of a file, and what its threads wait for. Asks no daemon.\n"
    "A file with all that rules look at: offcpuctl snapshot --json";

constexpr const char* kWhyHelp =
    "Say why units wait and who is to blame: of the host, or of one unit, cgroup or process";

constexpr const char* kDiffHelp =
    "Show what waits longer or shorter than before, the largest change first: the last 10 minutes\n"
    "against the hour before them, or any two ranges";

constexpr const char* kGoroutinesHelp =
    "Show what the goroutines of a Go program wait for now, by the functions that they are in";

// Refuses an empty text, which CLI11 would treat as an option that was not given.
std::string a_number(const std::string& text) {
  return text.empty() ? "needs a whole number" : std::string();
}

void add_top(CLI::App& top, CtlOptions& options, std::string& interval) {
  add_daemon_flags(top, options);
  top.add_flag("--once", options.once, "Print once and exit; implied by --json");
  top.add_option(
         "--sort", options.top.sort,
         "waiting (the default), runqueue, unknown, idle, running; by reason: actionable, p99, ...")
      ->type_name("KEY");
  top.add_flag("--by-reason", options.top.by_reason,
               "By the door through which threads left the CPU, not by what they wait for");
  top.add_flag("--reverse", options.top.reverse, "Reverse the order");
  top.add_option("--filter", options.top.filter, "Only rows with this text in comm or cgroup")
      ->type_name("TEXT");
  top.add_option("--for", options.top.wait_for,
                 "Only what waits for this: lock, answer, storage ...")
      ->type_name("WHAT");
  top.add_option("--cgroup", options.top.cgroup, kCgroupHelp)->type_name("CGROUP");
  top.add_option("--pid", options.top.pid, "Only this process")->type_name("PID")->check(a_number);
  top.add_flag("--threads", options.top.threads, "Threads instead of processes");
  top.add_option("--cpu", options.top.cpu, "Only threads on this CPU")
      ->type_name("N")
      ->check(a_number);
  top.add_flag("--pinned", options.top.pinned, "Only threads that may run on one CPU only");
  top.add_option("--limit", options.top.limit, "At most this many")
      ->type_name("N")
      ->check(a_number);
  top.add_option("--interval", interval, "Time between two requests to the daemon")
      ->type_name("TIME")
      ->capture_default_str();
}

Status finish_top(CtlOptions& options, const std::string& interval) {
  options.command = CtlCommand::ShowTop;
  options.once = options.once || options.json;
  options.top.threads = options.top.threads || options.top.cpu || options.top.pinned;
  const auto parsed = parse_duration(interval);
  if (!parsed) return misuse("--interval: " + parsed.error().message());
  if (*parsed < kLeastInterval) {
    return misuse("--interval: use " + format_duration(kLeastInterval) + " or more");
  }
  options.interval = *parsed;
  return {};
}

void add_goroutines(CLI::App& goroutines, CtlOptions& options) {
  add_daemon_flags(goroutines, options);
  add_query_option(goroutines, options.query, "pid", "pid", "PID", "The number of the process")
      ->required()
      ->check(a_number);
  add_query_option(goroutines, options.query, "--limit", "limit", "N",
                   "At most this many groups; default: 50");
}

void finish_goroutines(CtlOptions& options) {
  options.command = CtlCommand::ShowGoroutines;
  if (!options.json) options.query.emplace_back("format", "text");
}

CtlOptions text_to_print(std::string text) {
  CtlOptions options;
  options.text = std::move(text);
  return options;
}

// The commands, and the options that their flags set.
class CtlCommandLine {
 public:
  CtlCommandLine();
  Result<CtlOptions> parse(int argc, const char* const* argv);
  [[nodiscard]] const CLI::App& app() const { return app_; }

 private:
  // An error is a fragment.
  Status finish_command();
  // "offcpuctl flame": whose --help says more.
  [[nodiscard]] std::string asked() const;
  // The error about words that no command or option takes.
  [[nodiscard]] Error unexpected() const;

  CtlOptions options_;
  CLI::App app_{"Queries a running offcpud, and checks its configuration.", kProgram};
  bool version_ = false;
  CLI::App* status_ = app_.add_subcommand("status", "Show the state of the daemon");
  CLI::App* stalls_ = app_.add_subcommand(
      "stalls", "Show the threads that are stuck (~: estimated; gone: ended unseen)");
  CLI::App* top_ = app_.add_subcommand("top", kTopHelp);
  CLI::App* why_ = app_.add_subcommand("why", kWhyHelp);
  CLI::App* goroutines_ = app_.add_subcommand("goroutines", kGoroutinesHelp);
  CLI::App* diff_ = app_.add_subcommand("diff", kDiffHelp);
  CLI::App* snapshots_ =
      app_.add_subcommand("snapshots", "List the kept snapshots, or get their stacks");
  CLI::App* snapshot_ = app_.add_subcommand(
      "snapshot",
      "Sample stacks for some seconds, as offcputime does; -f and -w print microseconds");
  CLI::App* flame_ = app_.add_subcommand("flame", "Draw a flame graph of the kept snapshots");
  CLI::App* check_ =
      app_.add_subcommand("check-config", "Check the configuration and print all its values");
  CLI::App* explain_ = app_.add_subcommand("explain-stack", kExplainHelp);
  bool all_stalls_ = false;
  std::string interval_ = "2s";
  WhyFlags why_flags_{*why_, options_};
  ChangesFlags diff_flags_{*diff_, options_};
  StackFlags snapshots_flags_{*snapshots_, options_};
  SnapshotFlags snapshot_flags_{*snapshot_, options_};
  StackFlags flame_flags_{*flame_, options_};
  ConfigFlags config_{*check_};
};

CtlCommandLine::CtlCommandLine() {
  app_.set_help_flag("-h,--help", "Print this text and exit");
  app_.add_flag("--version", version_, "Print the version and exit");
  app_.footer(kCtlExitCodes);
  app_.require_subcommand(0, 1);

  add_server_flag(app_, options_);  // for who gives no command
  add_daemon_flags(*status_, options_);
  add_stalls(*stalls_, options_, all_stalls_);
  add_top(*top_, options_, interval_);
  add_daemon_flags(*why_, options_);
  add_goroutines(*goroutines_, options_);
  add_daemon_flags(*diff_, options_);
  add_daemon_flags(*snapshots_, options_);
  add_snapshots(*snapshots_, options_);
  add_daemon_flags(*snapshot_, options_);
  add_server_flag(*flame_, options_);
  add_flame(*flame_, options_);
  add_explain(*explain_, options_.explain);
}

Status CtlCommandLine::finish_command() {
  if (*status_) {
    options_.command = CtlCommand::ShowStatus;
  } else if (*stalls_) {
    finish_stalls(options_, all_stalls_);
  } else if (*top_) {
    TRY_VOID(finish_top(options_, interval_));
  } else if (*why_) {
    TRY_VOID(why_flags_.finish());
  } else if (*goroutines_) {
    finish_goroutines(options_);
  } else if (*diff_) {
    TRY_VOID(diff_flags_.finish());
  } else if (*snapshots_) {
    TRY_VOID(snapshots_flags_.finish());
    TRY_VOID(finish_snapshots(options_));
  } else if (*snapshot_) {
    TRY_VOID(snapshot_flags_.finish());
  } else if (*flame_) {
    TRY_VOID(flame_flags_.finish());
    TRY_VOID(finish_flame(options_));
  } else {
    options_.command = CtlCommand::ShowVerdict;
    options_.query = {{"format", "text"}, {"limit", "3"}};
  }
  // The address that --netrc-file is for asks for the password; the local socket does not.
  options_.server_given = !options_.server_text.empty() || !options_.server.netrc_file.empty();
  if (options_.server_text.empty()) options_.server_text = Config{}.listen;
  TRY(options_.server, finish_server(options_.server_text, options_.server));
  return {};
}

std::string CtlCommandLine::asked() const {
  const auto commands = app_.get_subcommands();
  return commands.empty() ? kProgram : kProgram + (" " + commands.front()->get_name());
}

Error CtlCommandLine::unexpected() const {
  const std::vector<std::string> words = app_.remaining(true);
  const std::string first = words.empty() ? "" : words.front();
  if (app_.get_subcommands().empty() && !first.starts_with('-')) {
    return Error("there is no command " + printable(first) + ": offcpuctl --help lists them",
                 ErrorKind::Usage);
  }
  const bool is_of_batches = *top_ && (first == "-n" || first == "-b");  // of top(1)
  return unexpected_arguments(
      asked(), app_,
      is_of_batches ? "; --once prints once, as top does anyway without a terminal" : "");
}

Result<CtlOptions> CtlCommandLine::parse(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
    if (version_) return text_to_print(version_line(kProgram));
    if (*check_) {
      options_.command = CtlCommand::CheckConfig;
      options_.sources = config_.sources();
      return options_;
    }
    if (*explain_) {
      options_.command = CtlCommand::ExplainStacks;
      return options_;
    }
    const Status finished = finish_command();
    if (!finished) return usage_error(asked(), finished.error().message());
    return options_;
  } catch (const CLI::CallForHelp&) {
    return text_to_print(app_.help());
  } catch (const CLI::ExtrasError&) {
    return unexpected();
  } catch (const std::exception& error) {
    return usage_error(asked(), error.what());
  }
}

}  // namespace

Result<CtlOptions> parse_ctl_command_line(int argc, const char* const* argv) {
  return CtlCommandLine().parse(argc, argv);
}

CommandDoc ctl_command_doc() {
  return describe(CtlCommandLine().app());
}

}  // namespace offcpud
