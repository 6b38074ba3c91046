// SPDX-License-Identifier: Apache-2.0
#include "config/duration.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "base/printable.h"
#include "base/text.h"
#include "config/refusal.h"

namespace offcpud {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct TimeUnit {
  std::string_view name;
  std::int64_t microseconds;
};

constexpr std::array<TimeUnit, 6> kAllUnits = {{{"d", 86'400'000'000},
                                                {"h", 3'600'000'000},
                                                {"min", 60'000'000},
                                                {"s", 1'000'000},
                                                {"ms", 1'000},
                                                {"us", 1}}};
using TimeUnits = std::span<const TimeUnit>;
constexpr TimeUnits kFineUnits(kAllUnits);
constexpr TimeUnits kTimeUnits = kFineUnits.first(5);

// Such as "(ms, s, min, h, d)".
std::string list_of(TimeUnits units) {
  std::string text;
  for (std::size_t i = units.size(); i-- > 0;) {
    text.append(text.empty() ? "" : ", ").append(units[i].name);
  }
  return "(" + text + ")";
}

// Removes the letters at the front of `rest` and returns them.
std::string_view take_word(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && !is_digit(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

std::size_t unit_index(std::string_view name, TimeUnits units) {
  if (name == "m") name = "min";
  std::size_t index = 0;
  while (index < units.size() && units[index].name != name) ++index;
  return index;
}

// Returns the duration in the smallest unit.
Result<std::int64_t> parse(std::string_view text, TimeUnits units) {
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
    if (name.empty()) return refusal(text, "has no unit " + list_of(units));
    if (name.front() == '.') return refusal(text, "is not made of whole numbers");
    const std::size_t unit = unit_index(name, units);
    if (unit == units.size()) {
      return refusal(text, "has an unknown unit " + quotation(name) + " " + list_of(units));
    }
    if (unit < smallest_allowed) return refusal(text, "does not go from larger to smaller units");
    smallest_allowed = unit + 1;

    std::int64_t part = 0;
    if (__builtin_mul_overflow(count, units[unit].microseconds / units.back().microseconds,
                               &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return refusal(text, "is too long a time");
    }
  }
  return total;
}

std::string format(std::int64_t rest, TimeUnits units) {
  if (rest == 0) return "0s";
  std::string text;
  for (const TimeUnit& unit : units) {
    const std::int64_t size = unit.microseconds / units.back().microseconds;
    if (const std::int64_t count = rest / size; count != 0) {
      text.append(std::to_string(count)).append(unit.name);
    }
    rest %= size;
  }
  return text;
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  TRY(const std::int64_t count, parse(text, kTimeUnits));
  return milliseconds(count);
}

Result<microseconds> parse_fine_duration(std::string_view text) {
  TRY(const std::int64_t count, parse(text, kFineUnits));
  return microseconds(count);
}

std::string format_duration(milliseconds duration) {
  return format(duration.count(), kTimeUnits);
}

std::string format_fine_duration(microseconds duration) {
  return format(duration.count(), kFineUnits);
}

}  // namespace offcpud
