// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/elf_file.h"
#include "symbols/function_list.h"

namespace offcpud {

// Adds the functions of a Go program by the table that its runtime uses (elf/go_function_table.h),
// which is there also when the symbols are stripped. Nothing if there is none. False: it asks for
// more than the limits of the list, and nothing is added.
bool add_go_functions(const ElfFile& file, FunctionList& list);

}  // namespace offcpud
