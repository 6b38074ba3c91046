// SPDX-License-Identifier: Apache-2.0
#include "base/utc.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace offcpud {
namespace {

// Formats the time with strftime(3).
std::string utc_text(WallTime time, const char* format) {
  const auto seconds = static_cast<std::time_t>(
      std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 80> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

std::string rfc3339(WallTime time) {
  const auto since_epoch = time.time_since_epoch();
  const auto fraction = std::chrono::floor<std::chrono::milliseconds>(since_epoch) -
                        std::chrono::floor<std::chrono::seconds>(since_epoch);
  std::array<char, 16> text{};
  (void)std::snprintf(text.data(), text.size(), ".%03dZ", static_cast<int>(fraction.count()));
  return utc_text(time, "%Y-%m-%dT%H:%M:%S") + text.data();
}

std::string moment_text(WallTime time) {
  return utc_text(time, "%Y-%m-%d %H:%M:%S");
}

std::string clock_text(WallTime time) {
  return utc_text(time, "%H:%M:%S");
}

std::string compact_utc(WallTime time) {
  return utc_text(time, "%Y%m%dT%H%M%SZ");
}

std::optional<WallTime> from_utc(const UtcFields& fields) {
  // Nanoseconds of these years fit into 64 bits.
  if (fields.year < 1970 || fields.year > 2200) return std::nullopt;
  if (fields.hour > 23 || fields.minute > 59 || fields.second > 60) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(fields.year)),
                                         std::chrono::month(fields.month),
                                         std::chrono::day(fields.day));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(fields.hour) +
         std::chrono::minutes(fields.minute) + std::chrono::seconds(fields.second);
}

bool take_digits(std::string_view& rest, std::size_t digits, unsigned& number) {
  if (rest.size() < digits) return false;
  const char* const end = rest.data() + digits;
  const auto [stop, code] = std::from_chars(rest.data(), end, number);
  if (code != std::errc{} || stop != end) return false;
  rest.remove_prefix(digits);
  return true;
}

}  // namespace offcpud
