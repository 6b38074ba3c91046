// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace offcpud {

// What an answer of /api/v1/snapshots/merge or /difference adds up to.
struct StacksTotal {
  std::uint64_t ns = 0;
  std::uint64_t before_ns = 0;  // of a difference: in the earlier range
  std::string origin;           // which time the answer is about, and of how many snapshots
  std::string bound;            // as sampling_bound() has it
};

// Error: `json` is no such answer.
Result<StacksTotal> stacks_total(const std::string& json);

}  // namespace offcpud
