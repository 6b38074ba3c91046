// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace offcpud {

// The sums of an answer of /api/v1/snapshots/merge or /difference.
struct StacksTotal {
  std::uint64_t ns = 0;
  std::uint64_t before_ns = 0;  // of a difference: sum of the earlier range
  std::string origin;           // the time that the answer covers, and how many snapshots
};

// Error: `json` is not such an answer.
Result<StacksTotal> stacks_total(const std::string& json);

}  // namespace offcpud
