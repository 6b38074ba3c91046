// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpud {

// Longer names are cut: templates of C++ reach tens of kilobytes.
inline constexpr std::size_t kMostFoldedNameBytes = 1'024;

// `name` as one frame of a folded line that flamegraph.pl, speedscope and Pyroscope read alike:
// - valid UTF-8 without `;`, control characters and Unicode white space other than single spaces
//   inside of the name;
// - never the end of a number column: flamegraph.pl takes " 3", and " 3.5", at the end of a line
//   for a value, in any script's digits, so a space stays only before a character of ASCII that
//   is none;
// - never empty ("[unknown]"), nor one of the separators `-` and `--`;
// - kMostFoldedNameBytes at most.
std::string folded_name(std::string_view name);

}  // namespace offcpud
