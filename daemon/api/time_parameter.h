// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "config/notation.h"

namespace offcpud {

// Completes "use ...".
inline constexpr const char* kAllowedTimes =
    "2026-11-20T12:00:00Z, seconds since 1970 such as 1795176000.5, or a time before now such as "
    "-10min";

// Reads a point in time as people and programs write it: RFC 3339 with Z or an offset, Unix seconds
// with up to nine decimals, `now`, or `-` and a duration. nullopt: the text is none of these.
std::optional<WallTime> parse_time(std::string_view text, WallTime now);

// Error (ErrorKind::Usage): the range of the parameters `prefix`from and `prefix`to has no length.
Status check_times(WallTime from, WallTime to, const std::string& prefix);

// The same as a parameter; relative times are before `now`.
Notation<WallTime> time_before(WallTime now);

}  // namespace offcpud
