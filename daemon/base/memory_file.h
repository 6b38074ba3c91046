// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// Creates an empty file in memory that can be sealed (memfd_create(2)). `name` is shown in
// /proc/PID/fd. Where the kernel allows it (MFD_NOEXEC_SEAL, Linux 6.3), nothing in the file can be
// executed: some files hold data that others wrote, and vm.memfd_noexec=2 allows no other kind.
Result<UniqueFd> memory_file(const char* name);

}  // namespace offcpud
