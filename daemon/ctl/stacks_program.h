// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/query_path.h"
#include "config/server.h"

namespace offcpud {

// Which kept snapshots a command asks for, and where the answer goes.
struct StacksRequest {
  Server server;
  std::string server_text;
  QueryParameters query;  // for .../merge, or .../difference if it has an earlier range
  std::string output;     // a file; empty: standard output
};

// What the command prints.
struct StacksOutput {
  std::string text;  // to standard output
  std::string note;  // to standard error, because it is no part of the text; no line feed
};

// Returns the stacks in the format of the query, or only a note if they were written to a file.
// Refuses to print a binary format to a terminal.
Result<StacksOutput> fetch_stacks(const StacksRequest& request);

// How the stacks of a new profile are shown.
struct SnapshotView {
  std::string format;  // as in the query: json, folded, offwake
  std::chrono::seconds length{0};
  bool as_json = false;    // the daemon's JSON, instead of a list
  bool delimited = false;  // a line between kernel and user functions
};

// "sampling stacks of waits for 10 s; Ctrl-C gives up"
std::string waiting_sentence(const SnapshotView& view);

// Takes a profile and waits for `length`, which it says if standard error is a terminal; otherwise
// as fetch_stacks().
Result<StacksOutput> take_snapshot(const StacksRequest& request, const SnapshotView& view);

// Writes a flame graph to `output`, a page of HTML that needs no network; the text describes it.
// Error (ErrorKind::Unsupported): the query matches no sampled wait.
Result<StacksOutput> draw_flame(const StacksRequest& request);

}  // namespace offcpud
