// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace offcpud {

// "2026-11-20T12:19:40.250Z": UTC, truncated to milliseconds. For programs, and for people where an
// answer is shown as it is (`stalls -v`, summaries).
std::string rfc3339(WallTime time);

// "2026-11-20 12:19:40" and "12:19:40", for people: UTC, truncated to seconds. The pages have the
// same: moment() in page/script/format.js, clock() in page/shared/numbers.js.
std::string moment_text(WallTime time);
std::string clock_text(WallTime time);

// "20261120T121940Z", for names of files: UTC, truncated to seconds.
std::string compact_utc(WallTime time);

// A point in time as people write it, in UTC.
struct UtcFields {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

// nullopt: there is no such day or time, or nanoseconds since 1970 would not fit into 64 bits.
// Second 60, a leap second, is the first second of the next minute.
std::optional<WallTime> from_utc(const UtcFields& fields);

// Removes exactly `digits` decimal digits from the front of `rest`. False: there are fewer, and
// `rest` does not change.
bool take_digits(std::string_view& rest, std::size_t digits, unsigned& number);

}  // namespace offcpud
