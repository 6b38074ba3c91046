// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "api/query_parameters.h"
#include "attribution/cgroup_filter.h"
#include "base/clock.h"
#include "base/result.h"

namespace offcpud {

// The parameters of /api/v1/why.
struct WhyQuery {
  CgroupFilter cgroup;               // all: the whole host
  std::optional<std::uint32_t> pid;  // only this process, in the daemon's PID namespace
  std::chrono::milliseconds window = std::chrono::seconds(20);
  std::optional<WallTime> to;  // nullopt: the window ends now
  std::size_t limit = 5;       // verdicts about the host, and trees
  bool as_text = false;

  // Accepts each parameter at most once. Relative times are before `now`. Error (ErrorKind::Usage):
  // names the unknown parameter or refused value, and says what is allowed.
  static Result<WhyQuery> parse(const Parameters& parameters, WallTime now);

  static constexpr std::size_t kMostLimit = 1'000;
};

}  // namespace offcpud
