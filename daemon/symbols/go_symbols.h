// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/elf_file.h"
#include "symbols/function_list.h"

namespace offcpud {

// Adds the functions of a Go program from the table that its runtime uses, which is there also when
// the symbols are stripped (elf/go_function_table.h). Adds none if there is no table. False if the
// table asks for more than the limits of the list; then it adds none, too.
bool add_go_functions(const ElfFile& file, FunctionList& list);

}  // namespace offcpud
