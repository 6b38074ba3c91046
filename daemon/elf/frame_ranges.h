// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "elf/address_range.h"
#include "elf/elf_file.h"

namespace offcpud {

// Where the functions of an object are according to its unwind tables: the FDEs that the search
// table of .eh_frame_hdr lists, with their lengths from .eh_frame. Entries that point outside of
// the tables are left out. Empty if the object has no such table. An error if a table cannot be
// read, ErrorKind::Unsupported if it lists more than `most` frames or has more than 32 MiB.
Result<std::vector<AddressRange>> read_frame_ranges(const ElfFile& file, std::size_t most);

}  // namespace offcpud
