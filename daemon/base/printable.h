// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offcpud {

// The first byte that a text file may not hold: it is not UTF-8, or a control character other than
// tab, line feed and carriage return.
struct TextDefect {
  std::size_t line;  // 1-based
  std::string what;  // "byte 0xff is not UTF-8"
};
std::optional<TextDefect> find_text_defect(std::string_view text);

// `text` with control characters and invalid bytes written as \xNN, so that one line of a log or a
// terminal stays one line, whoever chose the text.
std::string printable(std::string_view text);

// "worker[1250]": the name of a thread or process, printable, and its number.
std::string numbered(std::string_view name, std::uint64_t number);

// `text` as messages repeat it: printable and, if long, shortened with "...".
std::string excerpt(std::string_view text);

// An excerpt in double quotes.
std::string quotation(std::string_view text);

}  // namespace offcpud
