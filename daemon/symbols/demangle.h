// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// The longest name shown, in bytes; longer ones are truncated and end in an ellipsis.
inline constexpr std::size_t kMaxShownName = 1024;

// The source name of a C++ (Itanium ABI) or Rust (legacy or v0) function: qualified, with template
// arguments, without parameters, return type or Rust's hash. A symbol that is not mangled, cannot
// be demangled or takes longer than an honest name is shown as it is. Symbol tables may hold any
// bytes; the result is valid UTF-8 without control characters, at most kMaxShownName long. Time is
// bounded. Any thread may call it.
std::string demangle(std::string_view symbol);

// `name` in the form in which it may be shown: valid UTF-8 without control characters, at most
// kMaxShownName long.
std::string shown_name(std::string_view name);

}  // namespace offcpud
