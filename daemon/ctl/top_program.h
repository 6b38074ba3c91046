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
  std::chrono::milliseconds interval{2'000};  // between two questions
};

// `offcpuctl top` on the terminal at standard input and output, until the user quits, the terminal
// is gone, or SIGINT, SIGTERM or SIGHUP comes; in each case the terminal is given back as it was.
// A daemon that does not answer is shown and asked again. Call before other threads are started:
// it blocks these signals for the whole process.
Status run_top(const TopProgramOptions& options);

// One question; the answer as a table for a terminal of this width, or as it came.
Result<std::string> top_once(const TopProgramOptions& options, bool json, std::size_t width);

// Columns of the terminal at standard output; kAnyWidth when it is none.
std::size_t output_width();

}  // namespace offcpud
