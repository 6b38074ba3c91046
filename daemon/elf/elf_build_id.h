// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "elf/build_id.h"

namespace offcpud {

// The build-id in the contents of a PT_NOTE segment: the descriptor of the first note
// NT_GNU_BUILD_ID of the owner "GNU". Notes are aligned to 4 bytes, as the kernel reads them. The
// bytes may be hostile.
BuildId find_build_id_note(std::span<const std::byte> notes);

// The build-id of the ELF file behind `fd`, 32 or 64 bits, in this machine's byte order; none when
// it is no such file, is cut short or has none. Reads the headers and the notes only, at most 64
// KiB of each, and leaves the file position alone.
BuildId read_build_id(int fd);

}  // namespace offcpud
