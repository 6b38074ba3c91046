// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace offcpud {

// The line of an instruction, `offset` bytes behind the first one of its code. `table`: that of the
// code, untrusted: co_lnotab up to 3.9 (Objects/lnotab_notes.txt), co_linetable of 3.10, and of
// 3.11 on (Objects/locations.md). `first_line`: co_firstlineno. 0: it has no line, or the table
// does not say. Takes at most one step for each byte.
std::uint32_t python_line(std::uint32_t minor, Bytes table, std::uint32_t first_line,
                          std::int64_t offset);

}  // namespace offcpud
