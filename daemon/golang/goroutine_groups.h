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
  bool is_runtime = false;  // they are the runtime's own, such as its garbage collector's
  // How long, at least, the longest of these waits has lasted; nullopt: unknown.
  std::optional<std::chrono::nanoseconds> longest;
};

// Those with most goroutines first, and the runtime's own last.
struct GoroutineGroups {
  // Bytes of the functions' names, in all groups.
  static constexpr std::size_t kMostBytes = std::size_t{2} << 20;

  std::vector<GoroutineGroup> shown;
  std::size_t left_out = 0;             // groups beyond the limits, without the runtime's own
  std::size_t of_runtime_left_out = 0;  // those of the runtime
  std::uint64_t of_runtime = 0;         // goroutines of the runtime, also those that are left out
};

// `limit`: of groups.
GoroutineGroups group_goroutines(const GoroutineLook& look, const GoroutineReader& reader,
                                 const GoRuntime& runtime, const GoFunctions& functions,
                                 std::size_t limit);

}  // namespace offcpud
