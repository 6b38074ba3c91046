// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/query_path.h"
#include "config/server.h"

namespace offcpud {

// The stacks in which threads waited longest, as text that follows the answer that was asked for
// with `query` (query_of_stacks()): a line of heading, then a line for each of the ten heaviest,
// and how many others there are. If there are none, as where this user may not see stacks, the text
// says why: the answer before it is worth printing all the same.
std::string heaviest_stacks(const Server& server, const std::string& server_text,
                            const QueryParameters& query);

}  // namespace offcpud
