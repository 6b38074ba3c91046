// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// An answer of /api/v1/snapshots as a table, one line for each snapshot, and their sums. What a
// filter admits of each is shown where the question had one.
Result<std::string> snapshots_text(const std::string& json);

}  // namespace offcpud
