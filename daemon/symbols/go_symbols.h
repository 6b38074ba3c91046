// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/elf_file.h"
#include "symbols/function_list.h"

namespace offcpud {

// Adds the functions of a Go program from the table of its runtime, which stripped programs have
// too (elf/go_function_table.h). Adds none if there is no table. False: the table exceeds the
// limits of the list, and nothing was added.
bool add_go_functions(const ElfFile& file, FunctionList& list);

}  // namespace offcpud
