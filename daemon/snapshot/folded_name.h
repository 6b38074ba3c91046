// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpud {

// Longer names are shortened: C++ templates reach tens of kilobytes.
inline constexpr std::size_t kMostFoldedNameBytes = 1'024;

// Turns `name` into a frame of a folded line that flamegraph.pl, speedscope and Pyroscope read
// alike:
// - valid UTF-8 without `;`, control characters and Unicode white space, except single spaces
//   inside the name;
// - nothing that looks like the number at the end of a line: flamegraph.pl takes " 3" and " 3.5"
//   for a value, in the digits of any script, so a space stays only before an ASCII character
//   that is no digit;
// - never empty ("[unknown]"), and never one of the separators `-` and `--`;
// - at most kMostFoldedNameBytes.
std::string folded_name(std::string_view name);

}  // namespace offcpud
