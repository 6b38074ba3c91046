// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Reads 500ms, 10s, 10min (or 10m), 1h30min, 7d: whole numbers, each with its unit, larger units
// first, no spaces. Refuses a number without a unit, as readers cannot tell seconds from
// milliseconds. The error is a fragment that starts with the quoted text: `"10" has no unit (...)`.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The same, with microseconds (us), too.
Result<std::chrono::microseconds> parse_fine_duration(std::string_view text);
std::string format_fine_duration(std::chrono::microseconds duration);

// The shortest text that parse_duration reads back to the same value: 90 s is "1min30s".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace offcpud
