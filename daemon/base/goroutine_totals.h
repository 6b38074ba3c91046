// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offcpud {

// Why the goroutines of a Go program are not looked at: values of the label `cause`.
enum class GoroutineFailure : std::uint8_t {
  Version,     // the version is not known, or the program does not look as its version does
  Unreadable,  // its files or its memory could not be read
  Stacks,      // the stacks do not lead to where goroutines begin
  Room,        // too many programs are looked at, or their tables of functions take all the room
};
inline constexpr std::array<std::string_view, 4> kGoroutineFailureNames = {"version", "unreadable",
                                                                           "stacks", "room"};

// What looking at goroutines has done since the start.
struct GoroutineTotals {
  std::uint64_t looks = 0;          // at a program
  std::uint64_t skipped_looks = 0;  // that were due, but for which there was no CPU time
  std::uint64_t goroutines = 0;     // looked at
  std::uint64_t left_out = 0;       // of programs that were looked at, for lack of time
  std::array<std::uint64_t, kGoroutineFailureNames.size()> failures{};
  std::chrono::nanoseconds cpu{};  // of the daemon and its reader
  std::size_t programs = 0;        // that are looked at now
};

}  // namespace offcpud
