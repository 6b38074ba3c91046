// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpud {

// `text` as a terminal can show it, in the encoding of the locale (setlocale). Everything without a
// width there (control characters including C1, direction marks, invalid bytes) is written as \xNN:
// nobody who names a process or cgroup can move the cursor or hide anything.
std::string terminal_text(std::string_view text);

// The number of columns of a terminal_text.
std::size_t terminal_width(std::string_view text);

enum class Align { Left, Right, Name };

// A terminal_text truncated or padded to exactly this width. `Left` truncates at the end, `Right`
// at the beginning; a '~' replaces the part that is missing. `Name` is for names of which many
// begin alike. It aligns left, too; to shorten, it drops a ".service" at the end without a mark,
// then truncates in the middle.
std::string fitted(std::string_view text, std::size_t width, Align align);

// The duration_text() of `seconds`, for a column: "42.1 ms", "12 min 34 s"; eleven characters at
// most below 10,000 days. "-" for zero or less, and for what is not a number.
std::string duration_cell(double seconds);
// The same of a block in progress; "~12 min 34 s" if it began before the daemon did.
std::string age_cell(double seconds, bool estimated);

}  // namespace offcpud
