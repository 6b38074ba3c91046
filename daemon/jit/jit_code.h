// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace offcpud {

// A function that a runtime compiled while its program ran, or other code that it made: its
// interpreter, stubs.
struct JitFunction {
  std::uint64_t begin = 0, end = 0;  // addresses in the process
  // The size of its frames in bytes, including the return address and, right below it, the caller's
  // rbp; 0: unknown.
  std::uint32_t frame_size = 0;
  std::string name;  // as it may be shown; empty: it is unknown, or this is no function

  friend bool operator==(const JitFunction&, const JitFunction&) = default;
};

// All such functions of a process at one moment. Immutable once it is shared.
struct JitCode {
  // Memory in which the runtime has such functions and no other code.
  struct Range {
    std::uint64_t begin = 0, end = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<Range> ranges;
  std::vector<JitFunction> functions;  // ascending, without overlap

  // Null: no function is known there.
  [[nodiscard]] const JitFunction* find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(functions, address, {}, &JitFunction::begin);
    if (after == functions.begin()) return nullptr;
    const JitFunction& found = *std::prev(after);
    return address < found.end ? &found : nullptr;
  }

  [[nodiscard]] bool is_within(std::uint64_t address) const {
    return std::ranges::any_of(ranges, [address](const Range& range) {
      return range.begin <= address && address < range.end;
    });
  }

  friend bool operator==(const JitCode&, const JitCode&) = default;
};

}  // namespace offcpud
