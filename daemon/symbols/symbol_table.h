// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "elf/elf_file.h"
#include "symbols/function_list.h"

namespace offcpud {

// Adds the functions of .symtab, else of .dynsym, to `list`. Nothing is added for an object that
// has neither, nor of a table that cannot be read; what was wrong with the first one is returned,
// ErrorKind::Unsupported if it asks for more than the limits of the list.
Status read_functions(const ElfFile& file, FunctionList& list);

}  // namespace offcpud
