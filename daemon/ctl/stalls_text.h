// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The answer of /api/v1/stalls as a table; below each thread, what it waits for. Characters that a
// terminal would obey are written as text.
Result<std::string> stalls_text(const std::string& json);

}  // namespace offcpud
