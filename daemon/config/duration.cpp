// SPDX-License-Identifier: Apache-2.0
#include "config/duration.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "config/printable.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr std::array<Unit, 5> kUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::string_view kUnitList = "(ms, s, min, h, d)";

Error refusal(std::string_view text, std::string_view why) {
  return Error(quotation(text) + " " + std::string(why), ErrorKind::Configuration);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the letters at the front of `rest`.
std::string_view take_word(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && !is_digit(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

std::size_t unit_index(std::string_view name) {
  if (name == "m") name = "min";
  std::size_t index = 0;
  while (index < kUnits.size() && kUnits[index].name != name) ++index;
  return index;
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  if (text.empty()) return refusal(text, "is not a duration");
  std::int64_t total = 0;
  std::size_t smallest_allowed = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::int64_t count = 0;
    if (!is_digit(rest.front())) return refusal(text, "is not a duration");
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (code != std::errc{}) return refusal(text, "is too long a time");
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));

    const std::string_view name = take_word(rest);
    if (name.empty()) return refusal(text, "has no unit " + std::string(kUnitList));
    if (name.front() == '.') return refusal(text, "is not made of whole numbers");
    const std::size_t unit = unit_index(name);
    if (unit == kUnits.size()) {
      return refusal(text, "has an unknown unit " + quotation(name) + " " + std::string(kUnitList));
    }
    if (unit < smallest_allowed) return refusal(text, "does not go from larger to smaller units");
    smallest_allowed = unit + 1;

    std::int64_t part = 0;
    if (__builtin_mul_overflow(count, kUnits[unit].milliseconds, &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return refusal(text, "is too long a time");
    }
  }
  return milliseconds(total);
}

std::string format_duration(milliseconds duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text;
  for (const Unit& unit : kUnits) {
    if (const std::int64_t count = rest / unit.milliseconds; count != 0) {
      text.append(std::to_string(count)).append(unit.name);
    }
    rest %= unit.milliseconds;
  }
  return text;
}

}  // namespace offcpud
