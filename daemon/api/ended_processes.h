// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "api/for_sums.h"
#include "pipeline/view.h"

namespace offcpud {

// What processes waited for that have no row of their own, because they lived only between two
// walks over all threads: all of one name and cgroup.
struct EndedProcesses {
  ProcessRow row;  // name and labels only
  ForSums waits;
  std::size_t count = 0;
};

// Those of the last window that waited for something that somebody may want to act on, or of which
// nobody can tell. Processes without a known name are left out.
std::vector<EndedProcesses> ended_processes(const View& view);

}  // namespace offcpud
