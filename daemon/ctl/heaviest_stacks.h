// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/query_path.h"
#include "config/server.h"

namespace offcpud {

// The parameters for the stacks of an answer that was asked for with `query`: of what it is about,
// and of its range of time, or of the last ten minutes. Waits for work and timers are left
// out unless `query` asks for them.
QueryParameters query_of_stacks(const QueryParameters& query);

// The stacks in which threads waited longest, as text that follows an answer: a line of heading,
// then a line for each of the ten heaviest, and how many others there are. It asks
// /api/v1/snapshots/merge (docs/http.md). If that fails, as where this user may not see stacks,
// the text says why: the answer before it is worth printing all the same.
std::string heaviest_stacks(const Server& server, const std::string& server_text,
                            const QueryParameters& query);

}  // namespace offcpud
