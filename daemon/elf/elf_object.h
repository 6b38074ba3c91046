// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "elf/eh_frame.h"
#include "elf/eh_frame_file.h"
#include "elf/go_function_table.h"

namespace offcpud {

// A part of an ELF file that is mapped executable (PT_LOAD with PF_X).
struct ExecutableSegment {
  std::uint64_t file_offset = 0;
  std::uint64_t address = 0;  // as linked
  std::uint64_t size = 0;     // in the file; address + size does not overflow

  bool operator==(const ExecutableSegment&) const = default;
};

// What unwinding needs of an ELF file, as a copy.
struct ElfObject {
  std::vector<ExecutableSegment> segments;
  std::vector<std::uint8_t> eh_frame;  // empty: the file has none
  std::uint64_t eh_frame_address = 0;
  bool exact_size = true;  // see EhFrameSection

  std::vector<std::uint8_t> go_table;  // see GoFunctionTable; empty: not a Go program
  GoFunctionTable::Program go_program;

  bool is_truncated = false;  // a section beyond the limits is missing

  [[nodiscard]] EhFrameSection section() const {
    return {.bytes = eh_frame, .address = eh_frame_address, .exact_size = exact_size};
  }
};

// Limit for .eh_frame and Go's table together.
inline constexpr std::uint64_t kMaxUnwindSections = 48 << 20;

// Reads an ELF file for x86-64. The contents are untrusted: invalid parts and parts beyond the
// limits give an Error or are left out. Allocates as much memory as the sections have.
Result<ElfObject> read_elf_object(int fd);

}  // namespace offcpud
