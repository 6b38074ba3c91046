// SPDX-License-Identifier: Apache-2.0
// offcpuctl: queries a running daemon, and checks its configuration.
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "base/exit_code.h"
#include "cli/ctl_cli.h"
#include "cli/query_path.h"
#include "ctl/check_program.h"
#include "ctl/daemon_text.h"
#include "ctl/explain_program.h"
#include "ctl/heaviest_stacks.h"
#include "ctl/http_get.h"
#include "ctl/local_socket.h"
#include "ctl/locale_signs.h"
#include "ctl/snapshots_text.h"
#include "ctl/stacks_program.h"
#include "ctl/stalls_text.h"
#include "ctl/status_text.h"
#include "ctl/top_program.h"
#include "ctl/wrapped_text.h"

namespace offcpud {
namespace {

// The daemon's answer at `path`, unchanged or in the form that `to_text` gives it.
Result<std::string> show(const CtlOptions& options, const std::string& path,
                         const std::function<Result<std::string>(const std::string& json)>& to_text,
                         const AnswerLimits& limits = {}) {
  TRY(const auto answer, http_get(options.server, path, {}, limits));
  if (answer.status != 200) return refused(options.server_text, answer);
  auto text = to_text(answer.body);
  if (!text) return std::move(text).error().with(options.server_text);
  if (!options.json) return for_locale(*std::move(text));
  return answer.body.ends_with('\n') ? answer.body : answer.body + "\n";
}

// An answer that the daemon itself puts into words.
Result<std::string> show_daemon_text(const CtlOptions& options, const std::string& path,
                                     const AnswerLimits& limits = {}) {
  return show(options, query_path(path, options.query), options.json ? json_checked : daemon_text,
              limits);
}

// With the stacks below it, if they are asked for.
Result<std::string> with_stacks(const CtlOptions& options, Result<std::string> text) {
  if (!text || options.json || !options.verbose) return text;
  return *text + for_locale(heaviest_stacks(options.server, options.server_text, options.query));
}

// On a terminal, runs until the user quits; then nothing is left to print.
Result<std::string> show_top(const CtlOptions& options) {
  const TopProgramOptions top{options.server, options.server_text, options.top, options.interval};
  const bool interactive = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  if (options.once || !interactive) return top_once(top, options.json, output_width());
  TRY_VOID(run_top(top));
  return std::string();
}

StallsView stalls_view(const CtlOptions& options) {
  const std::pair<std::string, std::string> of_unknown("for", "unknown");
  const bool was_asked_for = std::ranges::find(options.query, of_unknown) != options.query.end();
  return {.verbose = options.verbose, .of_unknown = was_asked_for};
}

StacksRequest stacks_request(const CtlOptions& options) {
  return {.server = options.server,
          .server_text = options.server_text,
          .query = options.query,
          .output = options.output};
}

// Text whose sentences may be longer than the terminal's lines.
Result<std::string> on_terminal(const CtlOptions& options, Result<std::string> text) {
  if (!text || options.json) return text;
  return wrapped(*text, output_width());
}

// For a command without a note.
Result<StacksOutput> text_only(Result<std::string> text) {
  if (!text) return std::move(text).error();
  return StacksOutput{.text = *std::move(text)};
}

// Uses the local socket if a program listens there, as it shows most to those who may see it. A
// socket left behind by a killed daemon does not answer.
void prefer_local_socket(CtlOptions& options) {
  if (options.server_given) return;
  const auto local = parse_server(std::string("unix:") + kLocalSocket);
  if (!local || !is_answered(local->address.unix_path)) return;
  options.server = *local;
  options.server_text = local->address.text();
}

Result<StacksOutput> run(int argc, const char* const* argv) {
  TRY(auto options, parse_ctl_command_line(argc, argv));
  prefer_local_socket(options);
  switch (options.command) {
    case CtlCommand::ShowVerdict:
      return text_only(on_terminal(
          options, show(options, query_path("/api/v1/why", options.query), verdict_text)));
    case CtlCommand::ShowStatus:
      return text_only(on_terminal(options, show(options, "/api/v1/status", status_text)));
    case CtlCommand::ShowStalls:
      return text_only(show(options, query_path("/api/v1/stalls", options.query),
                            [view = stalls_view(options)](const std::string& json) {
                              return stalls_text(json, view);
                            }));
    case CtlCommand::ShowTop:
      return text_only(show_top(options));
    case CtlCommand::ShowWhy:
      return text_only(
          on_terminal(options, with_stacks(options, show_daemon_text(options, "/api/v1/why"))));
    case CtlCommand::ShowGoroutines:
      return text_only(show_daemon_text(options, "/api/v1/goroutines", kSnapshotLimits));
    case CtlCommand::ShowChanges:
      return text_only(
          with_stacks(options, show_daemon_text(options, "/api/v1/changes", kSnapshotLimits)));
    case CtlCommand::ShowSnapshots:
      return text_only(show(options, query_path("/api/v1/snapshots", options.query), snapshots_text,
                            kSnapshotLimits));
    case CtlCommand::FetchStacks:
      return fetch_stacks(stacks_request(options));
    case CtlCommand::DrawFlame:
      return draw_flame(stacks_request(options));
    case CtlCommand::TakeSnapshot:
      return take_snapshot(stacks_request(options),
                           {.format = options.format,
                            .length = std::chrono::seconds(options.seconds),
                            .as_json = options.json,
                            .delimited = options.delimited});
    case CtlCommand::CheckConfig:
      return check_config(options.sources);
    case CtlCommand::ExplainStacks:
      return text_only(explain_stacks(options.explain));
    case CtlCommand::PrintText:
      break;
  }
  return StacksOutput{.text = options.text};
}

int fail(const std::string& message, ExitCode code) {
  (void)std::fprintf(stderr, "offcpuctl: %s\n", message.c_str());
  return static_cast<int>(code);
}

}  // namespace
}  // namespace offcpud

int main(int argc, char** argv) {
  using namespace offcpud;
  // The encoding decides how a terminal shows a name, and the signs of numbers.
  (void)std::setlocale(LC_CTYPE, "");  // if it fails: "C", which shows only ASCII
  try {
    const auto output = run(argc, argv);
    if (!output) return fail(output.error().message(), exit_code_for(output.error().kind()));
    const std::string& text = output->text;
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) return fail("the output cannot be written", ExitCode::Internal);
    if (!output->note.empty()) {
      (void)std::fprintf(stderr, "%s\n", for_locale(output->note).c_str());
    }
    return 0;
  } catch (const std::exception& error) {
    return fail(error.what(), ExitCode::Internal);
  }
}
