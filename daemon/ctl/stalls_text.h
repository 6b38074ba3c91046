// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

struct StallsView {
  bool verbose = false;     // details such as stack and system call below each line
  bool of_unknown = false;  // only waits whose purpose nobody can tell were asked for
};

// The answer of /api/v1/stalls as a table, with one line for all threads that wait for the same
// cause. Characters that a terminal would obey are written as text.
Result<std::string> stalls_text(const std::string& json, const StallsView& view = {});

}  // namespace offcpud
