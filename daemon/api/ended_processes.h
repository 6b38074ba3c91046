// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "api/for_sums.h"
#include "pipeline/view.h"

namespace offcpud {

// What the ended processes of one name and cgroup waited for. They have no rows of their own,
// because they lived only between two walks over all threads.
struct EndedProcesses {
  ProcessRow row;  // name and labels only
  ForSums waits;
  std::size_t count = 0;
};

// The ended processes that had actionable or unknown waits in the last window. Leaves out those
// whose name is not known.
std::vector<EndedProcesses> ended_processes(const View& view);

}  // namespace offcpud
