// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace offcpud {

// "2026-11-20T12:19:40.250Z": UTC, milliseconds, cut off rather than rounded.
std::string rfc3339(WallTime time);

// "20261120T121940Z", for names of files: UTC, whole seconds, cut off.
std::string compact_utc(WallTime time);

// A point in time as people write it.
struct UtcFields {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

// Nothing: there is no such day or time, or its nanoseconds since 1970 do not fit into 64 bits.
// Second 60, a leap second, is the first one of the next minute.
std::optional<WallTime> from_utc(const UtcFields& fields);

// Takes exactly `digits` decimal digits off the front of `rest`. False: there are fewer, and `rest`
// stays.
bool take_digits(std::string_view& rest, std::size_t digits, unsigned& number);

}  // namespace offcpud
