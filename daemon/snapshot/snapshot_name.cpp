// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_name.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <system_error>

#include "base/utc.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSuffix = ".pb.gz";
constexpr std::string_view kPartial = "-partial";
constexpr std::string_view kTemporary = ".tmp";
constexpr std::uint64_t kMostSequence = std::numeric_limits<std::int64_t>::max();

WallTime milliseconds_of(WallTime time) {
  return WallTime(std::chrono::floor<milliseconds>(time.time_since_epoch()));
}

// Takes the digits from the front.
template <class Number>
bool take_number(std::string_view& rest, Number& number) {
  const auto [stop, code] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (code != std::errc{}) return false;
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  return true;
}

bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

std::optional<WallTime> take_time(std::string_view& rest) {
  UtcFields at;
  unsigned fraction = 0;
  const bool complete = take_digits(rest, 4, at.year) && take_digits(rest, 2, at.month) &&
                        take_digits(rest, 2, at.day) && take(rest, "T") &&
                        take_digits(rest, 2, at.hour) && take_digits(rest, 2, at.minute) &&
                        take_digits(rest, 2, at.second) && take(rest, ".") &&
                        take_digits(rest, 3, fraction) && take(rest, "Z");
  const auto time = complete ? from_utc(at) : std::nullopt;
  if (!time) return std::nullopt;
  return *time + milliseconds(fraction);
}

}  // namespace

SnapshotName SnapshotName::of(const Snapshot& snapshot) {
  const WallTime begin = milliseconds_of(snapshot.begin);
  const WallTime end = milliseconds_of(snapshot.end);
  return {.sequence = snapshot.sequence,
          .begin = begin,
          // If the clock was set back, the begin is the best there is.
          .end = end > begin ? end : begin,
          .partial = snapshot.partial};
}

std::string SnapshotName::text() const {
  const auto length = std::chrono::duration_cast<milliseconds>(end - begin).count();
  std::array<char, 96> rest{};
  (void)std::snprintf(rest.data(), rest.size(), "+%lldms-%020llu", static_cast<long long>(length),
                      static_cast<unsigned long long>(sequence));
  std::string name = rfc3339(begin);
  std::erase_if(name, [](char c) { return c == '-' || c == ':'; });
  name += rest.data();
  if (partial) name += kPartial;
  return name.append(kSuffix);
}

std::optional<SnapshotName> SnapshotName::parse(std::string_view file) {
  SnapshotName name;
  std::string_view rest = file;
  const auto begin = take_time(rest);
  std::uint32_t length = 0;
  if (!begin || !take(rest, "+") || !take_number(rest, length) || !take(rest, "ms-")) {
    return std::nullopt;
  }
  if (!take_number(rest, name.sequence) || name.sequence > kMostSequence) return std::nullopt;
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

}  // namespace offcpud
