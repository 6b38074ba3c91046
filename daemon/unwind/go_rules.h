// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/go_function_table.h"
#include "unwind/cfi_program.h"
#include "unwind/table_builder.h"

namespace offcpud {

// Adds the rows of a Go function, up to `end`, from the runtime's own table. In every function with
// a frame, Go keeps the caller's rbp just below the return address
// (src/cmd/compile/abi-internal.md, "Architecture specifics", amd64). Stacks end in a few functions
// of the runtime, where goroutines begin and where a thread switches to another stack.
void add_go_function(const GoFunctionTable& table, const GoFunction& function, std::uint64_t end,
                     WorkBudget& budget, TableBuilder& builder);

}  // namespace offcpud
