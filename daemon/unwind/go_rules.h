// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/go_function_table.h"
#include "unwind/cfi_program.h"
#include "unwind/table_builder.h"

namespace offcpud {

// Adds the rows of a function of a Go program, up to `end`, from the runtime's own table. Go keeps
// the caller's rbp just below the return address in every function that has a frame (its ABI:
// src/cmd/compile/abi-internal.md, "Architecture specifics", amd64), and ends stacks in a few
// functions of the runtime, where goroutines begin and where a thread switches to another stack.
void add_go_function(const GoFunctionTable& table, const GoFunction& function, std::uint64_t end,
                     WorkBudget& budget, TableBuilder& builder);

}  // namespace offcpud
