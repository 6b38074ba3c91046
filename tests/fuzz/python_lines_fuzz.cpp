// SPDX-License-Identifier: Apache-2.0
// Tables of lines: the input is a version, the first line, and the table.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "fuzz.h"
#include "python/python_lines.h"
#include "text.h"
#include "unit/python/python_line_samples.h"

namespace offcpud::fuzz {
namespace {

// From this offset on, up to the next entry, this line; nothing: none.
struct Entry {
  std::int64_t from = 0;
  std::optional<std::int64_t> line;
};

// 3.8 and 3.9: from a pair's offset on its line, until the next pair.
std::vector<Entry> of_pairs(std::string_view table, std::int64_t line) {
  std::vector<Entry> entries{{.from = 0, .line = line}};
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    at += static_cast<std::uint8_t>(table[i]);
    line += static_cast<std::int8_t>(table[i + 1]);
    entries.push_back({.from = at, .line = line});
  }
  return entries;
}

// 3.10: each pair is a range.
std::vector<Entry> of_ranges(std::string_view table, std::int64_t line) {
  std::vector<Entry> entries;
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto delta = static_cast<std::int8_t>(table[i + 1]);
    if (delta != -128) line += delta;
    if (table[i] != 0) {
      entries.push_back({.from = at, .line = delta == -128 ? std::nullopt : std::optional(line)});
    }
    at += static_cast<std::uint8_t>(table[i]);
  }
  entries.push_back({.from = at, .line = std::nullopt});
  return entries;
}

// 3.11 and later: entries are cut where a byte has its highest bit set.
std::vector<Entry> of_locations(std::string_view table, std::int64_t line) {
  std::vector<Entry> entries;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < table.size();) {
    std::size_t end = i + 1;
    while (end < table.size() && (table[end] & 0x80) == 0) ++end;
    const auto head = static_cast<std::uint8_t>(table[i]);
    const unsigned form = (head & 0x78U) / 8;
    bool is_whole = true;
    if (form == 13 || form == 14) {
      std::uint64_t value = 0;
      std::size_t k = i + 1;
      // The number may run into the next entry, as its own reader would have it.
      for (std::uint64_t factor = 1;; factor *= 64, ++k) {
        is_whole = k < table.size();
        if (!is_whole) break;
        if (k - i <= 6) value += (static_cast<std::uint8_t>(table[k]) % 64) * factor;
        if ((table[k] & 0x40) == 0) break;
      }
      const auto half = static_cast<std::int64_t>(value / 2);
      line += value % 2 == 1 ? -half : half;
      end = std::min(table.size(), k + 1);
      while (end < table.size() && (table[end] & 0x80) == 0) ++end;
    } else if (form >= 10 && form <= 12) {
      line += form - 10;
    }
    entries.push_back(
        {.from = at, .line = form == 15 || !is_whole ? std::nullopt : std::optional(line)});
    at += 2 * (head % 8 + 1);
    i = end;
  }
  entries.push_back({.from = at, .line = std::nullopt});
  return entries;
}

std::uint32_t expected(const std::vector<Entry>& entries, std::int64_t offset) {
  std::optional<std::int64_t> line;
  for (const Entry& entry : entries) {
    if (entry.from > offset) break;
    line = entry.line;
  }
  const bool is_line = line && *line > 0 && *line <= 0x7fffffff;
  return is_line ? static_cast<std::uint32_t>(*line) : 0;
}

}  // namespace

void test(std::string_view input) {
  if (input.size() < 3) return;
  const std::uint32_t minor = 8 + static_cast<std::uint8_t>(input[0]) % 7U;
  const std::uint32_t first =
      static_cast<std::uint8_t>(input[1]) * 256U + static_cast<std::uint8_t>(input[2]);
  const std::string_view table = input.substr(3, 2'000);
  const auto entries = minor <= 9    ? of_pairs(table, first)
                       : minor == 10 ? of_ranges(table, first)
                                     : of_locations(table, first);
  std::int64_t end = 0;
  for (const Entry& entry : entries) end = std::max(end, entry.from);
  for (std::int64_t offset = 0; offset <= std::min<std::int64_t>(end + 4, 3'000); offset += 2) {
    require(python_line(minor, bytes_of(table), first, offset) == expected(entries, offset),
            "the line is that of the entry");
  }
  (void)python_line(minor, bytes_of(table), first, -2);
}

// Tables that CPython itself made.
std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const auto& sample : testing_python::line_samples()) {
    const char head[] = {static_cast<char>(sample.minor - 8), 0,
                         static_cast<char>(sample.first_line)};
    seeds.push_back(std::string(head, 3) + std::string(sample.table));
  }
  return seeds;
}

}  // namespace offcpud::fuzz
