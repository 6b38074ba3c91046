// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "attribution/cgroup_filter.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/wait_for.h"

namespace offcpud {

// The parameters of /api/v1/units: which units, and of what time.
struct UnitQuery {
  std::chrono::milliseconds window = std::chrono::minutes(1);
  CgroupFilter cgroup;
  bool below = true;                    // with cgroup: also the cgroups below it
  std::optional<WaitFor> wait_for;      // only units that wait for this, sorted by how long
  std::optional<std::size_t> limit;     // nullopt: all
  bool history = false;                 // also every step of the history that is kept
  bool steps = false;                   // also what the threads waited for, in steps of 10 s
  std::optional<CgroupFilter> lengths;  // also the lengths of this cgroup's waits, in these steps
  bool usual = false;                   // also how long waits usually were
  std::optional<WallTime> to;           // nullopt: the window ends now

  // Accepts each parameter at most once. Relative times are before `now`. Error (ErrorKind::Usage):
  // names the unknown parameter or refused value, and says what is allowed.
  static Result<UnitQuery> parse(const std::multimap<std::string, std::string>& parameters,
                                 WallTime now);

  [[nodiscard]] bool admits(std::string_view path) const;
};

}  // namespace offcpud
