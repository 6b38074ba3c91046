// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "elf/address_range.h"
#include "symbols/function_list.h"

namespace offcpud {

class ElfFile;

// Behind the name of a function: code without a symbol in which the function ends.
inline constexpr std::string_view kTailCall = ".tailcall";

// Larger objects are left alone, because all of their code is read.
inline constexpr std::uint64_t kMostJumpingCode = 4 << 20;      // bytes
inline constexpr std::size_t kMostJumpingFunctions = 64 << 10;  // with a symbol, and by FDEs

// Names code without a symbol after a function of the list that ends in it:
// `pthread_once.tailcall`. Compilers turn a call at the end of a function into a jump, so glibc's
// pthread_once is on no stack, only the code to which it jumps. `frames`: all functions of the file
// by their FDEs. One without a symbol is named if only jumps from functions of the list reach its
// start, and no other jump or call; calls by pointers are not looked for. Of several functions that
// jump there, names without a leading underscore come first, then short ones. Only for x86-64.
void add_jumped_code(const ElfFile& file, std::span<const AddressRange> frames, FunctionList& list);

}  // namespace offcpud
