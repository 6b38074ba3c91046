// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "elf/elf_file.h"
#include "symbols/function_list.h"

namespace offcpud {

// Adds the functions of .symtab, or of .dynsym if there is no .symtab, to `list`. Adds nothing if
// the object has neither, and nothing of a table that cannot be read. Returns the error of the
// first table; of kind Unsupported if it exceeds the limits of the list.
Status read_functions(const ElfFile& file, FunctionList& list);

}  // namespace offcpud
