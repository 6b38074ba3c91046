// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "elf/address_range.h"
#include "elf/elf_file.h"

namespace offcpud {

// Limit for .eh_frame. Those of libxul and Chromium have half this size.
inline constexpr std::uint64_t kMaxEhFrame = 32 << 20;

// The section .eh_frame of a file, in memory; see EhFrameSection.
struct EhFrame {
  std::vector<std::uint8_t> bytes;  // empty: the file has none
  std::uint64_t address = 0;
  bool exact_size = true;
};

// Finds the section through PT_GNU_EH_FRAME, which survives `strip` and `sstrip`, or else by name.
// Error: it cannot be read; ErrorKind::Unsupported: it is longer than kMaxEhFrame.
Result<EhFrame> read_eh_frame(const ElfFile& file);

// The functions of an object: the FDEs that the search table of .eh_frame_hdr lists, with their
// lengths from .eh_frame. Skips entries that point outside of the tables. Empty if the object has
// no such table. Error: a table cannot be read; ErrorKind::Unsupported: it lists more than `most`
// frames, or .eh_frame is too long.
Result<std::vector<AddressRange>> read_frame_ranges(const ElfFile& file, std::size_t most);

}  // namespace offcpud
