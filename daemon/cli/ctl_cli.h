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
  ShowStatus,
  ShowStalls,
  ShowTop,
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
  Server server;  // of those that ask the daemon
  std::string server_text;
  bool server_given = true;  // false: `server` is the default, and there may be a local socket
  bool json = false;         // of those that ask the daemon
  QueryParameters query;     // of those that ask for stalls, snapshots and stacks
  TopRequest top;            // of ShowTop
  bool once = false;         // of ShowTop; with json always
  std::chrono::milliseconds interval{2'000};
  std::string format;      // of FetchStacks: folded, offwake, pprof; of TakeSnapshot: or json
  std::string output;      // of these ("": standard output) and DrawFlame
  unsigned seconds = 0;    // of TakeSnapshot, as in the query
  bool delimited = false;  // of TakeSnapshot
  ConfigSources sources;   // of CheckConfig
  ExplainRequest explain;  // of ExplainStacks
  std::string text;        // of PrintText
};

// The command line of offcpuctl. Neither prints nor exits; errors are ErrorKind::Usage.
Result<CtlOptions> parse_ctl_command_line(int argc, const char* const* argv);

}  // namespace offcpud
