// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "offcpud.h"

namespace offcpud {

// offcpud_syscall_class by system call number, loaded into the kernel programs: what a thread that
// blocks in the call is waiting for. Calls that are not listed are OFFCPUD_CLASS_OTHER.
using SyscallClasses = std::array<std::uint8_t, OFFCPUD_SYSCALLS>;

SyscallClasses native_syscall_classes();
SyscallClasses compat_syscall_classes();  // 32-bit programs on x86_64

}  // namespace offcpud
