// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/query_path.h"

namespace offcpud {

inline constexpr const char* kLastMinutes = "-10min";

// The parameters of /api/v1/snapshots/merge (docs/http.md) for the stacks of an answer that was
// asked for with `query`: of what it is about, and of its range of time, or of the last ten
// minutes. Waits for work and timers are left out unless `query` asks for them. ErrorKind::Usage:
// no stacks belong to it; the message says why.
Result<QueryParameters> query_of_stacks(const QueryParameters& query);

// The path with these parameters.
std::string path_of_stacks(const QueryParameters& query);

}  // namespace offcpud
