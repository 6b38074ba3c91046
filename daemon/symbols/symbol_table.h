// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "symbols/elf_file.h"
#include "symbols/function_index.h"

namespace offcpud {

// Adds the functions of .symtab, else of .dynsym, to `list`. Nothing is added for an object that
// has neither.
Status read_functions(const ElfFile& file, FunctionList& list);

}  // namespace offcpud
