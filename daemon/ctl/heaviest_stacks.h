// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/query_path.h"
#include "config/server.h"

namespace offcpud {

// The stacks in which threads waited longest, as text to print below the answer to `query` (see
// query_of_stacks()): a heading, a line for each of the ten heaviest, and how many others there
// are. If there are none, for instance because this user may not see them, the text says why: the
// answer is worth printing even then.
std::string heaviest_stacks(const Server& server, const std::string& server_text,
                            const QueryParameters& query);

}  // namespace offcpud
