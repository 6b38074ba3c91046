// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "api/query_parameters.h"
#include "base/clock.h"
#include "base/result.h"
#include "changes/changes_scope.h"

namespace offcpud {

// The parameters of /api/v1/changes.
struct ChangesQuery : ChangesScope {
  // Accepts each parameter at most once. Relative times such as -10min are before `now`. Error
  // (ErrorKind::Usage): names the unknown parameter or refused value, and says what is allowed.
  static Result<ChangesQuery> parse(const Parameters& parameters, WallTime now);

  static constexpr std::size_t kMostLimit = 10'000;
};

}  // namespace offcpud
