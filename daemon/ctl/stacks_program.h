// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/query_path.h"
#include "config/server.h"

namespace offcpud {

// What of the kept snapshots a command asks for, and where the answer goes.
struct StacksRequest {
  Server server;
  std::string server_text;
  QueryParameters query;  // of .../merge; of .../difference when it has an earlier range
  std::string output;     // file; "": standard output
};

// What is to be printed.
struct StacksOutput {
  std::string text;  // to standard output
  std::string note;  // to standard error, without an end of line: what the text has no place for
};

// The stacks in the format that the query says, or nothing but a note when they have gone into a
// file. Binary ones do not go to a terminal.
Result<StacksOutput> fetch_stacks(const StacksRequest& request);

// How the stacks of the time to come are shown.
struct SnapshotView {
  std::string format;  // of the query: json, folded, offwake
  std::chrono::seconds length{0};
  bool as_json = false;    // as the daemon says it, instead of as a list
  bool delimited = false;  // kernel from user functions
};

// Waits for `length`; otherwise as fetch_stacks().
Result<StacksOutput> take_snapshot(const StacksRequest& request, const SnapshotView& view);

// A flame graph in `output`, a page of HTML that needs no network; the text says what is in it.
// Error (ErrorKind::Unsupported): no wait that the query asks for was sampled.
Result<StacksOutput> draw_flame(const StacksRequest& request);

}  // namespace offcpud
