// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// An empty file in memory that can be sealed (memfd_create(2)). `name` is for /proc/PID/fd alone.
// Nothing can be executed from it where the kernel can forbid that (MFD_NOEXEC_SEAL, Linux 6.3):
// what others wrote is copied into some of these files, and vm.memfd_noexec=2 allows no others.
Result<UniqueFd> memory_file(const char* name);

}  // namespace offcpud
