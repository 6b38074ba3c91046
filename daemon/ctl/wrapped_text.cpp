// SPDX-License-Identifier: Apache-2.0
#include "ctl/wrapped_text.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "ctl/terminal_text.h"
#include "ctl/top_table.h"

namespace offcpud {
namespace {

constexpr std::size_t kSentenceIndent = 4;  // of the rest of a sentence
constexpr std::size_t kTableIndent = 28;    // below the last column of a tree
constexpr std::size_t kLeastWidth = 40;

void append_wrapped(std::string& out, std::string_view line, std::size_t width) {
  const std::size_t indent =
      line.starts_with(' ') ? std::min(kTableIndent, width / 2) : kSentenceIndent;
  std::size_t column = 0;
  bool breaks = false;  // whether a word stands on the output's line
  while (!line.empty()) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', blanks), line.size());
    const std::string_view word = line.substr(blanks, end - blanks);
    const std::size_t wide = terminal_width(word);
    if (breaks && column + blanks + wide > width) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else {
      out.append(blanks, ' ');
      column += blanks;
    }
    out += word;
    column += wide;
    breaks = true;
    line.remove_prefix(end);
  }
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t width) {
  if (width == kAnyWidth || width < kLeastWidth) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const bool has_end = rest.find('\n') != std::string_view::npos;
    append_wrapped(out, take_until(rest, '\n'), width);
    if (has_end) out += '\n';
  }
  return out;
}

}  // namespace offcpud
