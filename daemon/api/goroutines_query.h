// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/query_parameters.h"
#include "base/result.h"

namespace offcpud {

// The parameters of /api/v1/goroutines.
struct GoroutinesQuery {
  std::uint32_t pid = 0;   // in the daemon's PID namespace
  std::size_t limit = 50;  // groups
  bool as_text = false;

  // Accepts each parameter at most once. Error (ErrorKind::Usage): names the unknown parameter, or
  // the refused or missing value, and says what is allowed.
  static Result<GoroutinesQuery> parse(const Parameters& parameters);

  static constexpr std::size_t kMostLimit = 1'000;
};

}  // namespace offcpud
