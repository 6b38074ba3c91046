// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// The longest name that is shown, in bytes; longer ones are cut and end in "…".
inline constexpr std::size_t kMaxShownName = 1024;

// The source name of a C++ (Itanium ABI) or Rust (legacy or v0) function: qualified, with template
// arguments, without parameters, return type or Rust's hash. What is not mangled, cannot be
// demangled, or takes longer than an honest name does, is shown as it is. The result is valid UTF-8
// without control characters, as symbol tables may hold any bytes, and at most kMaxShownName long.
// The time is bounded. Any thread.
std::string demangle(std::string_view symbol);

// `name` as it may be shown: valid UTF-8 without control characters, cut at kMaxShownName.
std::string shown_name(std::string_view name);

}  // namespace offcpud
