// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpud {

// `text` as a terminal may have it, in the encoding of the locale (setlocale): whatever has no
// width of its own there - control characters, also those of C1, direction marks, stray bytes - is
// written as \xNN, so nobody who names a process or cgroup can move the cursor or hide anything.
std::string terminal_text(std::string_view text);

// Columns that a terminal_text takes.
std::size_t terminal_width(std::string_view text);

enum class Align { Left, Right };

// A terminal_text cut or filled with blanks to exactly this width. `Left` cuts the end, `Right` the
// beginning; a '~' stands for what was cut.
std::string fitted(std::string_view text, std::size_t width, Align align);

// The duration_text() of so many seconds as one word, for a column: "42.1ms", "12min34s"; eight
// characters at most below 10,000 days. "-" for zero or less, and for what is not a number.
std::string duration_cell(double seconds);

}  // namespace offcpud
