// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace offcpud {

// Returns the line of the instruction that is `offset` bytes behind the first one of its code.
// `minor`: the version. `table`: the code's table of lines, untrusted: co_lnotab up to 3.9
// (Objects/lnotab_notes.txt), from 3.10 on co_linetable, whose format changed in 3.11
// (Objects/locations.md). `first_line`: co_firstlineno. Returns 0 if the instruction has no line,
// or the table does not say. Takes at most one step for each byte of the table.
std::uint32_t python_line(std::uint32_t minor, Bytes table, std::uint32_t first_line,
                          std::int64_t offset);

}  // namespace offcpud
