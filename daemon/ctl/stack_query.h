// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/query_path.h"

namespace offcpud {

inline constexpr const char* kLastMinutes = "-10min";

// The parameters of /api/v1/snapshots/merge (docs/http.md) for the stacks behind the answer to
// `query`: they select what that answer is about, in its range of time or in the last ten minutes.
// They leave out waits for work and timers, unless `query` asks for them. ErrorKind::Usage: such an
// answer has no stacks; the message says why.
Result<QueryParameters> query_of_stacks(const QueryParameters& query);

// The path with these parameters.
std::string path_of_stacks(const QueryParameters& query);

}  // namespace offcpud
