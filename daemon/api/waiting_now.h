// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "pipeline/view.h"

namespace offcpud {

// Lines for people about the whole host: what threads wait for now, the longest first, or that
// nobody waits; then waits for a CPU, stalls, unusual waits, and how many threads idle. Names are
// not made printable. `with_sites`: includes what stacks say, and which process waits most there.
std::vector<std::string> waiting_now(const View& view, bool with_sites);

}  // namespace offcpud
