// SPDX-License-Identifier: Apache-2.0
// Perf maps, against a search for the last line that has an address.
#include <charconv>

#include "fuzz.h"
#include "symbols/perf_map.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

struct Line {
  std::uint64_t start = 0, size = 0;
  std::string_view name;
};

std::optional<std::uint64_t> take_hex(std::string_view& text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value, 16);
  if (error != std::errc() || end == text.end() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()) + 1);
  return value;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const auto start = take_hex(line);
    const auto size = start ? take_hex(line) : std::nullopt;
    if (!size || *size == 0 || *start + *size < *start || line.empty()) continue;
    line = line.substr(0, 1024);
    lines.push_back({*start, *size, line.substr(0, line.find('\0'))});
  }
  return lines;
}

}  // namespace

void test(std::string_view input) {
  const PerfMap map(input);
  const std::vector<Line> lines = lines_of(input.substr(0, 4096));
  if (input.size() > 4096) return;  // the search takes the square of the lines
  for (const Line& place : lines) {
    for (const std::uint64_t address :
         {place.start, place.start - 1, place.start + place.size, place.start + place.size / 2}) {
      std::optional<std::string_view> expected;
      for (const Line& line : lines) {
        if (address >= line.start && address - line.start < line.size) expected = line.name;
      }
      require(map.find(address) == expected, "the last line that has an address counts");
    }
  }
  require(map.bytes() <= 64 * input.size() + 4096, "a map takes a multiple of its text");
}

std::vector<std::string> seeds() {
  return {"7f0000001000 20 LazyCompile:~run node:internal/main:1\n7f0000001020 40 Builtin:Call\n",
          "0x1000 0x100 a\n0x1080 0x10 b\n0x1000 8 c\n1040 ffffffffffffff00 d\n",
          "10 0 none\n10 1 \nffffffffffffffff 1 last\nfffffffffffffffe 1 x",
          "3ef414c0 398 RegExp:[{(]\n3ef418a0 398 \x1b[31m\xff;x\n",
          std::string("1 2 nul\0tail\n3 4 y", 18)};
}

}  // namespace offcpud::fuzz
