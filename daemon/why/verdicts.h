// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "why/hops.h"
#include "why/why_units.h"

namespace offcpud {

// A sentence for people about one unit: what it waits for, whom for, and who is to blame.
struct WhyVerdict {
  std::string unit;
  std::size_t for_kind = 0;
  double threads = 0, error = 0;
  WhyPath path;
  std::string sentence;  // names as the host gave them
  std::string culprit;   // who is to blame; empty: unknown
  std::string because;   // why it is unknown
};

// About one unit; threads 0: nothing is to be said.
WhyVerdict verdict_of(WhyUnits& units, const std::string& unit);

// About the whole host, the worst first: units that wait for what somebody may act on, with at
// least 0.05 threads. A unit that another verdict passes through, and that waits no more than twice
// as much, has none of its own.
std::vector<WhyVerdict> verdicts(WhyUnits& units, std::size_t most);

}  // namespace offcpud
