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
  bool is_main = true;     // about what the unit waits for most
  bool stuck = false;      // threads have waited for it for 10 s and more, and still do
  bool over = false;       // nobody of the unit waits for it any more
  double over_within = 0;  // it ended at most this many seconds ago
  WhyPath path;
  std::string sentence;  // names as the host gave them
  std::string culprit;   // who is to blame; empty: unknown
  // Whether what the culprit does is a part of what the unit waited. False: it is what the culprit
  // did in the same window, perhaps for others, or its load of a disk.
  bool attributed = false;
  std::string because;  // why it is unknown
};

// About one unit; threads 0: there is nothing to say.
WhyVerdict verdict_of(WhyUnits& units, const std::string& unit);

// verdict_of(), and one verdict about each other thing that the unit waits for, if that lasts and
// is a fifth of all that it waits for, or a deadlock. Empty: it waits for nothing that somebody may
// act on.
std::vector<WhyVerdict> verdicts_of(WhyUnits& units, const std::string& unit);

// About the whole host: units that wait for what somebody may act on, with at least 0.05 threads.
// First what lasts, then what is over; of each the worst first: by how many threads wait, times
// four in a verdict about stuck ones. If the path of a verdict passes through a unit that itself
// waits there, the unit's own verdict is left out, unless that is about more than twice as many
// threads. A unit that ends a path because it runs, has the CPUs or loads a disk keeps its own
// verdict: the path does not explain what it waits for.
std::vector<WhyVerdict> verdicts(WhyUnits& units, std::size_t most);

}  // namespace offcpud
