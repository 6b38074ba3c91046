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
  bool is_main = true;     // about what most of the unit's threads wait for
  bool over = false;       // nobody of the unit waits for it any more
  double over_within = 0;  // seconds; since when, at most
  WhyPath path;
  std::string sentence;  // names as the host gave them
  std::string culprit;   // who is to blame; empty: unknown
  std::string because;   // why it is unknown
};

// About one unit; threads 0: nothing is to be said.
WhyVerdict verdict_of(WhyUnits& units, const std::string& unit);

// The same, and about what else it waits for, if that lasts and is a fifth of all or a deadlock.
// Empty: nothing is to be said.
std::vector<WhyVerdict> verdicts_of(WhyUnits& units, const std::string& unit);

// About the whole host: units that wait for what somebody may act on, with at least 0.05 threads.
// First what lasts, then what is over; of each the worst first. A unit that another verdict passes
// through, while it waits itself, has one of its own only if it waits more than twice as much as
// that verdict's. Where a path ends at a unit that runs or has the CPUs, that unit has its own.
std::vector<WhyVerdict> verdicts(WhyUnits& units, std::size_t most);

}  // namespace offcpud
