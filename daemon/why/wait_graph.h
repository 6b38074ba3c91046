// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "why/cause.h"
#include "why/why_units.h"

namespace offcpud {

// Who waits for whom on a host: an edge from the unit that waits to whom it waits for.
struct WaitEdge {
  std::string from, to;
  Cause::Kind kind = Cause::Kind::Unit;  // of `to`: Unit, Remote, Device, Kernel
  std::size_t for_kind = 0;
  double threads = 0, error = 0;
};

struct WaitGraph {
  std::vector<WaitEdge> edges;  // the largest first; kMost at most
  double left_out = 0;          // threads of those beyond
  double unknown = 0;           // threads that wait for nobody knows whom

  static constexpr std::size_t kMost = 500;
};

// Only what somebody may act on, and waits for a CPU. A unit does not wait for itself here.
WaitGraph wait_graph(WhyUnits& units);

}  // namespace offcpud
