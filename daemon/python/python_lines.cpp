// SPDX-License-Identifier: Apache-2.0
#include "python/python_lines.h"

#include <limits>

namespace offcpud {
namespace {

// Lines of real files are below this; sums of any bytes stay within 64 bits.
constexpr std::int64_t kMostLines = std::numeric_limits<std::int32_t>::max();

std::uint32_t shown(std::int64_t line) {
  return line > 0 && line <= kMostLines ? static_cast<std::uint32_t>(line) : 0;
}

std::int64_t take_signed(ByteReader& reader) {
  return static_cast<std::int8_t>(reader.take<std::uint8_t>());
}

// Pairs: a number of bytes of code, and how many lines further the code behind them is.
std::uint32_t line_by_pairs(ByteReader reader, std::int64_t line, std::int64_t offset) {
  for (std::int64_t at = 0; reader.rest().size() >= 2;) {
    at += reader.take<std::uint8_t>();
    if (at > offset) break;
    line += take_signed(reader);
  }
  return shown(line);
}

// Pairs: a number of bytes of code, and how many lines further these are.
std::uint32_t line_by_ranges(ByteReader reader, std::int64_t line, std::int64_t offset) {
  constexpr std::int64_t kNoLine = -128;
  for (std::int64_t at = 0; reader.rest().size() >= 2;) {
    at += reader.take<std::uint8_t>();
    const std::int64_t delta = take_signed(reader);
    if (delta != kNoLine) line += delta;
    if (at > offset) return delta == kNoLine ? 0 : shown(line);
  }
  return 0;
}

// Six bits in each byte, lowest first; the seventh says that more follow. The sign is the lowest
// bit of all.
std::int64_t take_signed_varint(ByteReader& reader) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (;;) {
    const auto byte = reader.take<std::uint8_t>();
    if (shift < 36) value |= std::uint64_t{byte & 0x3fU} << shift;
    shift += 6;
    if ((byte & 0x40U) == 0 || !reader.ok()) break;
  }
  const auto half = static_cast<std::int64_t>(value >> 1U);
  return (value & 1U) != 0 ? -half : half;
}

// Each entry begins with the only kind of byte that has its highest bit set: its form, and how many
// instructions, of two bytes, it is for. What follows may say how many lines further they are.
std::uint32_t line_by_locations(ByteReader reader, std::int64_t line, std::int64_t offset) {
  constexpr unsigned kFirstOneLine = 10, kLastOneLine = 12, kNoColumns = 13, kLong = 14, kNone = 15;
  for (std::int64_t at = 0; !reader.at_end();) {
    const auto head = reader.take<std::uint8_t>();
    const unsigned form = head >> 3U & 0xfU;
    at += 2 * std::int64_t{(head & 7U) + 1U};
    if (form == kNoColumns || form == kLong) {
      line += take_signed_varint(reader);
    } else if (form >= kFirstOneLine && form <= kLastOneLine) {
      line += form - kFirstOneLine;
    }
    if (at > offset) return form == kNone || !reader.ok() ? 0 : shown(line);
    while (!reader.at_end() && (reader.rest().front() & 0x80U) == 0) reader.take<std::uint8_t>();
  }
  return 0;
}

}  // namespace

std::uint32_t python_line(std::uint32_t minor, Bytes table, std::uint32_t first_line,
                          std::int64_t offset) {
  const ByteReader reader(table);
  if (minor <= 9) return line_by_pairs(reader, first_line, offset);
  if (minor == 10) return line_by_ranges(reader, first_line, offset);
  return line_by_locations(reader, first_line, offset);
}

}  // namespace offcpud
