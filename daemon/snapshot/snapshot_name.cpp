// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_name.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <limits>
#include <system_error>

namespace offcpud {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSuffix = ".pb.gz";
constexpr std::string_view kPartial = "-partial";
constexpr std::string_view kTemporary = ".tmp";
constexpr std::uint64_t kMostSequence = std::numeric_limits<std::int64_t>::max();

std::tm utc(WallTime time) {
  const auto seconds = static_cast<std::time_t>(
      std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return parts;
}

std::string date_text(const std::tm& parts) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%S", &parts)};
}

WallTime milliseconds_of(WallTime time) {
  return WallTime(std::chrono::floor<milliseconds>(time.time_since_epoch()));
}

// Takes a number off the front.
template <class Number>
bool take(std::string_view& rest, std::size_t digits, Number& number) {
  const std::size_t length = digits != 0 ? digits : rest.find_first_not_of("0123456789");
  if (length == 0 || length > rest.size()) return false;
  const char* const end = rest.data() + length;
  const auto [stop, code] = std::from_chars(rest.data(), end, number);
  if (code != std::errc{} || stop != end) return false;
  rest.remove_prefix(length);
  return true;
}

bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

std::optional<WallTime> take_time(std::string_view& rest) {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, fraction = 0;
  const bool complete = take(rest, 4, year) && take(rest, 2, month) && take(rest, 2, day) &&
                        take(rest, "T") && take(rest, 2, hour) && take(rest, 2, minute) &&
                        take(rest, 2, second) && take(rest, ".") && take(rest, 3, fraction) &&
                        take(rest, "Z");
  // Years whose nanoseconds fit.
  if (!complete || year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(month), std::chrono::day(day));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + milliseconds(fraction);
}

}  // namespace

SnapshotName SnapshotName::of(const Snapshot& snapshot) {
  const WallTime begin = milliseconds_of(snapshot.begin);
  const WallTime end = milliseconds_of(snapshot.end);
  return {.sequence = snapshot.sequence,
          .begin = begin,
          .end = end > begin ? end : begin,  // the clock was set back: there is no better
          .partial = snapshot.partial};
}

std::string SnapshotName::text() const {
  const auto since_epoch = std::chrono::floor<milliseconds>(begin.time_since_epoch()).count();
  const auto fraction = static_cast<int>(((since_epoch % 1'000) + 1'000) % 1'000);
  const auto length = std::chrono::duration_cast<milliseconds>(end - begin).count();
  std::array<char, 96> rest{};
  (void)std::snprintf(rest.data(), rest.size(), ".%03dZ+%lldms-%020llu", fraction,
                      static_cast<long long>(length), static_cast<unsigned long long>(sequence));
  std::string name = date_text(utc(begin)) + rest.data();
  if (partial) name += kPartial;
  return name.append(kSuffix);
}

std::optional<SnapshotName> SnapshotName::parse(std::string_view file) {
  SnapshotName name;
  std::string_view rest = file;
  const auto begin = take_time(rest);
  std::uint32_t length = 0;
  if (!begin || !take(rest, "+") || !take(rest, 0, length) || !take(rest, "ms-")) {
    return std::nullopt;
  }
  if (!take(rest, 20, name.sequence) || name.sequence > kMostSequence) return std::nullopt;
  name.begin = *begin;
  name.end = *begin + milliseconds(length);
  name.partial = take(rest, kPartial);
  if (rest != kSuffix || name.text() != file) return std::nullopt;
  return name;
}

std::string temporary_name(std::string_view file) {
  return "." + std::string(file).append(kTemporary);
}

bool is_temporary_name(std::string_view file) {
  if (!file.starts_with('.') || !file.ends_with(kTemporary)) return false;
  file.remove_prefix(1);
  file.remove_suffix(kTemporary.size());
  return SnapshotName::parse(file).has_value();
}

std::string compact_utc(WallTime time) {
  return date_text(utc(time)) + "Z";
}

}  // namespace offcpud
