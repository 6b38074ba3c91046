// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "symbols/elf_symbols.h"

namespace offcpud {

// The functions of the vDSO, read from the daemon's own mapping: the kernel maps the same image
// into every process of the daemon's word size. An error if there is none (vdso=0).
Result<ElfSymbols> read_vdso_symbols();

}  // namespace offcpud
