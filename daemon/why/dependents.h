// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "why/why_units.h"

namespace offcpud {

// A unit that waits for another one. The other one's own causes do not show this.
struct Dependent {
  std::string unit;  // that waits
  std::string on;    // for whom
  std::size_t for_kind = 0;
  std::string device;  // which `on` loads and `unit` waits for; empty: it waits for `on` itself
  double threads = 0;
  bool over = false;  // it does not wait any more
};

// Who waits for each of `on` with at least 0.05 threads: for its answer, its locks, a CPU that it
// has, or a device that it alone is to blame for. In the order of `on`; of each, those that last
// come first, then those that are over, the most threads first. Looks at each unit once, however
// many are asked for.
std::vector<Dependent> dependents_of(WhyUnits& units, const std::vector<std::string>& on);

// "nc-backup.service waits for nc-cleaner.service: 0.90 threads for a lock"
std::string sentence_of(const Dependent& dependent);

}  // namespace offcpud
