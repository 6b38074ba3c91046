// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "elf/elf_file.h"

namespace offcpud {

// The ELF file that Fedora and its kin put into the .gnu_debugdata section of stripped objects,
// compressed with XZ: a .symtab of what .dynsym does not have. Nothing if there is none, or if it
// is damaged. ErrorKind::Unsupported: it is larger than symbols of that kind are, or than what so
// few bytes can hold: what is compressed can be anything.
Result<std::optional<std::string>> read_embedded_symbols(const ElfFile& object);

}  // namespace offcpud
