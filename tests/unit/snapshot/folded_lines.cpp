// SPDX-License-Identifier: Apache-2.0
#include "unit/snapshot/folded_lines.h"

#include <charconv>
#include <stdexcept>

namespace offcpud::test {
namespace {

FoldedLine parse_line(std::string_view line) {
  FoldedLine parsed;
  const std::size_t space = line.rfind(' ');
  const char* const end = line.data() + line.size();
  if (space == std::string_view::npos || space == 0) throw std::invalid_argument(std::string(line));
  const auto [stop, code] = std::from_chars(line.data() + space + 1, end, parsed.value);
  if (code != std::errc{} || stop != end) throw std::invalid_argument(std::string(line));
  std::string_view stack = line.substr(0, space);
  for (;;) {
    const std::size_t semicolon = stack.find(';');
    parsed.frames.emplace_back(stack.substr(0, semicolon));
    if (semicolon == std::string_view::npos) return parsed;
    stack.remove_prefix(semicolon + 1);
  }
}

}  // namespace

std::vector<FoldedLine> parse_folded(std::string_view text) {
  std::vector<FoldedLine> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) throw std::invalid_argument("the last line has no end");
    lines.push_back(parse_line(text.substr(0, newline)));
    text.remove_prefix(newline + 1);
  }
  return lines;
}

std::uint64_t sum(const std::vector<FoldedLine>& lines) {
  std::uint64_t total = 0;
  for (const FoldedLine& line : lines) total += line.value;
  return total;
}

}  // namespace offcpud::test
