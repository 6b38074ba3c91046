// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Reads 512KiB, 256MiB, 1GiB, 4096B: a whole number with a unit (B, KiB, MiB, GiB, TiB), no space.
// Refuses a number without a unit, and MB, which means 10^6 bytes to some people and 2^20 to
// others. The error is a fragment that starts with the quoted text: `"10" has no unit (...)`.
Result<std::uint64_t> parse_byte_size(std::string_view text);

// The shortest text that parse_byte_size reads back to the same value.
std::string format_byte_size(std::uint64_t bytes);

}  // namespace offcpud
