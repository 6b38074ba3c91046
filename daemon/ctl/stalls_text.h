// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The answer of /api/v1/stalls as a table, with what each thread waits for below its line. What a
// terminal would obey is written out.
Result<std::string> stalls_text(const std::string& json);

}  // namespace offcpud
