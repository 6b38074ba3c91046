// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "why/why_inputs.h"

namespace offcpud {

// Who ended waits for a lock at one site in the last minutes: that thread had the lock, or passed
// it on. Nobody sees who holds locks that live in a database or a runtime; who released them before
// is the best guess, and is told as one. Immutable.
struct LockReleasers {
  struct By {
    std::string unit;  // or a cgroup of no unit
    std::string process;
    std::uint32_t pid = 0;  // 0: several processes, or not in the daemon's PID namespace
    std::string thread;     // empty: several threads
    std::uint32_t tid = 0;  // 0: the same, or not known
    std::size_t threads = 1;
    bool own = false;  // of the unit that waits
    double share = 0;  // of the time of waits that a thread ended
    double error = 0;  // its standard deviation, given what was seen
  };
  std::vector<By> by;      // who ended most comes first; few
  std::uint32_t seen = 0;  // waits that a thread was seen to end
  double nobody = 0;       // share of the time of all that ended otherwise: by a timeout, say

  // Whether one of them ended waits of at least half of that time.
  [[nodiscard]] bool is_one() const;
};

// Null: fewer than three such waits were seen.
std::shared_ptr<const LockReleasers> releasers_of(const Source<UnitRelease>& releases,
                                                  const std::string& unit, const std::string& site);

// "usually released by postgres (pid 28704) of the same unit (95 % ± 4 % of the time of 23 waits
// seen)"
std::string releasers_text(const LockReleasers& releasers);

}  // namespace offcpud
