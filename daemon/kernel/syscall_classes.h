// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "offcpud.h"

namespace offcpud {

// What a thread that blocks in a system call waits for: offcpud_syscall_class by number of the
// call, for the kernel programs. Calls that are not listed are OFFCPUD_CLASS_OTHER.
using SyscallClasses = std::array<std::uint8_t, OFFCPUD_SYSCALLS>;

SyscallClasses native_syscall_classes();
SyscallClasses compat_syscall_classes();  // 32-bit programs on x86_64

}  // namespace offcpud
