// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// An answer of /api/v1/snapshots as a table with one line per snapshot, and their sums. If the
// request had a filter, each line shows how much it admits.
Result<std::string> snapshots_text(const std::string& json);

}  // namespace offcpud
