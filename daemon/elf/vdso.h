// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// The vDSO as a file in memory, for TableStore::add_object(): all 64-bit processes have the one
// that this process has. An Error where the kernel was told to map none (vdso=0).
Result<UniqueFd> vdso_file();

}  // namespace offcpud
