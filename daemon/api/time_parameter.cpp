// SPDX-License-Identifier: Apache-2.0
#include "api/time_parameter.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "api/query_parameters.h"
#include "base/utc.h"
#include "config/duration.h"

namespace offcpud {
namespace {

bool take_one_of(std::string_view& rest, std::string_view characters) {
  if (rest.empty() || characters.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

// Takes ".25" off the front; 0 if there is no fraction.
std::optional<std::chrono::nanoseconds> take_fraction(std::string_view& rest) {
  if (rest.empty() || rest.front() != '.') return std::chrono::nanoseconds(0);
  rest.remove_prefix(1);
  std::int64_t value = 0;
  std::int64_t unit = 1'000'000'000;
  std::size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits) {
    unit /= 10;
    value += unit * (rest[digits] - '0');
  }
  if (digits == 0 || digits > 9) return std::nullopt;
  rest.remove_prefix(digits);
  return std::chrono::nanoseconds(value);
}

// Takes "Z", "+02:00" or "-0530" off the front. An unescaped plus in a query arrives as a space.
std::optional<std::chrono::seconds> take_offset(std::string_view& rest) {
  if (take_one_of(rest, "Zz")) return std::chrono::seconds(0);
  const bool west = !rest.empty() && rest.front() == '-';
  unsigned hours = 0, minutes = 0;
  if (!take_one_of(rest, "+- ") || !take_digits(rest, 2, hours)) return std::nullopt;
  (void)take_one_of(rest, ":");
  if (!take_digits(rest, 2, minutes) || hours > 23 || minutes > 59) return std::nullopt;
  const std::chrono::seconds offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return west ? -offset : offset;
}

std::optional<WallTime> parse_rfc3339(std::string_view rest) {
  UtcFields at;
  const bool complete =
      take_digits(rest, 4, at.year) && take_one_of(rest, "-") && take_digits(rest, 2, at.month) &&
      take_one_of(rest, "-") && take_digits(rest, 2, at.day) && take_one_of(rest, "Tt ") &&
      take_digits(rest, 2, at.hour) && take_one_of(rest, ":") && take_digits(rest, 2, at.minute) &&
      take_one_of(rest, ":") && take_digits(rest, 2, at.second);
  if (!complete) return std::nullopt;
  const auto time = from_utc(at);
  const auto fraction = take_fraction(rest);
  if (!time || !fraction) return std::nullopt;
  const auto offset = take_offset(rest);
  if (!offset || !rest.empty()) return std::nullopt;
  return *time + *fraction - *offset;
}

std::optional<WallTime> parse_unix(std::string_view rest) {
  constexpr std::int64_t kMostSeconds = 7'258'118'400;  // the year 2200
  std::int64_t whole = 0;
  const auto [stop, code] = std::from_chars(rest.data(), rest.data() + rest.size(), whole);
  if (code != std::errc{} || whole < 0 || whole > kMostSeconds) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  const auto fraction = take_fraction(rest);
  if (!fraction || !rest.empty()) return std::nullopt;
  return WallTime(std::chrono::seconds(whole)) + *fraction;
}

}  // namespace

std::optional<WallTime> parse_time(std::string_view text, WallTime now) {
  if (text == "now") return now;
  if (text.starts_with('-')) {
    const auto before = parse_duration(text.substr(1));
    // Subtracts in milliseconds: nanoseconds since 1970 overflow for dates that people may write.
    const auto since_1970 = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch());
    if (!before || *before > since_1970) return std::nullopt;
    return now - *before;
  }
  const auto time = parse_rfc3339(text);
  return time ? time : parse_unix(text);
}

Status check_times(WallTime from, WallTime to, const std::string& prefix) {
  if (from < to) return {};
  return usage_error("parameter " + prefix + "from is not before " + prefix +
                     "to; use an earlier " + prefix + "from");
}

Notation<WallTime> time_before(WallTime now) {
  const auto parse = [now](std::string_view text) -> Result<WallTime> {
    const auto time = parse_time(text, now);
    if (!time) return Error("is no time");
    return *time;
  };
  return {parse, {}, kAllowedTimes};
}

}  // namespace offcpud
