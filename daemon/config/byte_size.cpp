// SPDX-License-Identifier: Apache-2.0
#include "config/byte_size.h"

#include <array>
#include <charconv>
#include <system_error>

#include "base/printable.h"
#include "config/refusal.h"

namespace offcpud {
namespace {

struct SizeUnit {
  std::string_view name;
  unsigned shift;
};

constexpr std::array<SizeUnit, 5> kSizeUnits = {
    {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};
constexpr const char* kSizeUnitList = "(B, KiB, MiB, GiB, TiB)";

}  // namespace

Result<std::uint64_t> parse_byte_size(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (code == std::errc::invalid_argument) return refusal(text, "is not a size");
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  if (name.empty()) return refusal(text, std::string("has no unit ") + kSizeUnitList);
  if (name.front() == '.') return refusal(text, "is not a whole number");
  for (const SizeUnit& unit : kSizeUnits) {
    if (unit.name != name) continue;
    const std::uint64_t bytes = count << unit.shift;
    if (code != std::errc{} || bytes >> unit.shift != count) return refusal(text, "is too large");
    return bytes;
  }
  return refusal(text, "has an unknown unit " + quotation(name) + " " + kSizeUnitList);
}

std::string format_byte_size(std::uint64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    const std::uint64_t count = bytes >> unit.shift;
    if (count != 0 && count << unit.shift == bytes) {
      return std::to_string(count) + std::string(unit.name);
    }
  }
  return "0B";
}

}  // namespace offcpud
