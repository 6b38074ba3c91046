// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "config/listen_address.h"
#include "ctl/query_path.h"

namespace offcpud {

// What of the kept snapshots a command asks for, and where the answer goes.
struct StacksRequest {
  ListenAddress server;
  std::string server_text;
  QueryParameters query;     // of .../merge; of .../difference when it has an earlier range
  std::string output;        // file; "": standard output
  bool icicle = false;       // of a picture
  bool with_wakers = false;  // of a picture
};

// The stacks in the format that the query says. Returns what is to be printed: them, or nothing
// when they have gone into a file. Binary ones do not go to a terminal.
Result<std::string> fetch_stacks(const StacksRequest& request);

// How the stacks of the time to come are shown.
struct SnapshotView {
  std::string format;  // of the query: json, folded, offwake
  std::chrono::seconds length{0};
  bool as_json = false;    // as the daemon says it, instead of as a list
  bool delimited = false;  // kernel from user functions
};

// Waits for `length`, and returns what is to be printed, as fetch_stacks().
Result<std::string> take_snapshot(const StacksRequest& request, const SnapshotView& view);

// A flame graph in `output`, whose name ends in .html or .svg. Returns a line that says what is in
// it. Error (ErrorKind::Unsupported): nothing waited that the query asks for.
Result<std::string> draw_flame(const StacksRequest& request);

}  // namespace offcpud
