// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/explain_flags.h"
#include "cli/query_path.h"
#include "cli/top_request.h"
#include "config/config_loader.h"
#include "config/server.h"

namespace offcpud {

enum class CtlCommand {
  ShowVerdict,  // without a command
  ShowStatus,
  ShowStalls,
  ShowTop,
  ShowChanges,
  ShowWhy,
  ShowGoroutines,
  ShowSnapshots,
  FetchStacks,
  DrawFlame,
  TakeSnapshot,
  CheckConfig,
  ExplainStacks,
  PrintText
};

struct CtlOptions {
  CtlCommand command = CtlCommand::PrintText;
  Server server;  // of the commands that ask the daemon
  std::string server_text;
  bool server_given = true;  // false: `server` is the default; a local socket comes first
  bool json = false;         // of the commands that ask the daemon
  bool verbose = false;      // of ShowStalls, ShowWhy, ShowChanges
  QueryParameters query;     // of the commands for stalls, snapshots and stacks
  TopRequest top;            // of ShowTop
  bool once = false;         // of ShowTop; implied by `json`
  std::chrono::milliseconds interval{2'000};
  std::string format;      // of FetchStacks: folded, offwake, pprof; TakeSnapshot: also json
  std::string output;      // of these two and DrawFlame; empty: standard output
  unsigned seconds = 0;    // of TakeSnapshot, also in `query`
  bool delimited = false;  // of TakeSnapshot
  ConfigSources sources;   // of CheckConfig
  ExplainRequest explain;  // of ExplainStacks
  std::string text;        // of PrintText
};

// Parses the command line of offcpuctl. Neither prints nor exits; errors are ErrorKind::Usage.
Result<CtlOptions> parse_ctl_command_line(int argc, const char* const* argv);

}  // namespace offcpud
