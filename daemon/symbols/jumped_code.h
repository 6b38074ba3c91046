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

// Names code that has no symbol, but in which functions of the list end. Compilers turn a call at
// the end of a function into a jump, so glibc's pthread_once is on no stack, only what it jumps to:
// that is `pthread_once.tailcall`. `frames` are all functions of the file by their FDEs. One
// without a symbol gets such a name if jumps from functions of the list reach its start, but no
// other jump and no call do; of several such functions, the one with the shortest name. Calls by
// pointers are not looked for. Only of x86 with 64 bits.
void add_jumped_code(const ElfFile& file, std::span<const AddressRange> frames, FunctionList& list);

}  // namespace offcpud
