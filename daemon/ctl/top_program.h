// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/top_request.h"
#include "config/server.h"

namespace offcpud {

struct TopProgramOptions {
  Server server;
  std::string server_text;
  TopRequest request;
  std::chrono::milliseconds interval{2'000};  // between two requests
};

// Runs `offcpuctl top` on the terminal at standard input and output until the user quits, the
// terminal closes, or SIGINT, SIGTERM or SIGHUP arrives; always restores the terminal. If the
// daemon does not answer, shows that, and asks again. Call it before other threads start: it blocks
// these signals for the whole process.
Status run_top(const TopProgramOptions& options);

// One request. The answer as a table for a terminal of this width, or unchanged as JSON.
Result<std::string> top_once(const TopProgramOptions& options, bool json, std::size_t width);

// The width of the terminal at standard output; kAnyWidth if it is not a terminal.
std::size_t output_width();

}  // namespace offcpud
