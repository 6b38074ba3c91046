// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The answer of /api/v1/stalls as a table: one line for all threads with one cause. `verbose`:
// below each line also stack, system call and the like. Characters that a terminal would obey are
// written as text.
Result<std::string> stalls_text(const std::string& json, bool verbose);

}  // namespace offcpud
