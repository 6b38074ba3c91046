// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The answer of /api/v1/stalls as a table, with one line for all threads that wait for the same
// cause. `verbose`: details such as stack and system call below each line. Characters that a
// terminal would obey are written as text.
Result<std::string> stalls_text(const std::string& json, bool verbose);

}  // namespace offcpud
