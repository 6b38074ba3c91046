// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golang/go_functions.h"
#include "golang/goroutine_reader.h"

namespace offcpud {

// Goroutines that wait at one place, for one reason.
struct GoroutineGroup {
  std::uint64_t number = 0;
  std::string reason;                  // as the runtime calls it: "chan receive"; empty: unknown
  std::vector<std::string> functions;  // innermost first
  GoStack::End end = GoStack::End::Root;
  bool has_stack = true;    // false: they changed while they were read, or were left out
  bool is_runtime = false;  // they are the runtime's own: for the collector of garbage
  // So long has the one waited that has waited longest, at least; nullopt: unknown.
  std::optional<std::chrono::nanoseconds> longest;
};

// Those with most goroutines first, and the runtime's own last.
std::vector<GoroutineGroup> group_goroutines(const GoroutineLook& look,
                                             const GoroutineReader& reader,
                                             const GoRuntime& runtime,
                                             const GoFunctions& functions);

}  // namespace offcpud
