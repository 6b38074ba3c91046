// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "elf/elf_file.h"

namespace offcpud {

// The ELF file that Fedora and related systems put into the .gnu_debugdata section of stripped
// objects, compressed with XZ. Its .symtab has what .dynsym lacks. Nothing: there is none, or it is
// damaged. Error of kind Unsupported: it is larger than such symbols are, or expands more than real
// symbols do, because compressed data can be anything.
Result<std::optional<std::string>> read_embedded_symbols(const ElfFile& object);

}  // namespace offcpud
