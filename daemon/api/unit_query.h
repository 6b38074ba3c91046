// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "attribution/cgroup_filter.h"
#include "base/result.h"

namespace offcpud {

// Which units a request asks for, and of what time: the parameters of /api/v1/units.
struct UnitQuery {
  std::chrono::milliseconds window = std::chrono::minutes(1);  // up to now
  CgroupFilter cgroup;
  bool below = true;                 // with cgroup: also what is below it
  std::optional<std::size_t> limit;  // nullopt: all
  bool history = false;              // also the steps of all that is kept

  // Each parameter once at most. Error (ErrorKind::Usage): an unknown parameter or a value that is
  // not allowed, with what is.
  static Result<UnitQuery> parse(const std::multimap<std::string, std::string>& parameters);

  [[nodiscard]] bool admits(std::string_view path) const;
};

}  // namespace offcpud
