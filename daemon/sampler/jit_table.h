// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "jit/jit_code.h"
#include "unwind/unwind_table.h"

namespace offcpud {

// How to step from the functions of a range to their callers. Addresses count from its beginning.
UnwindTable unwind_table_of(const JitCode& code, const JitCode::Range& range,
                            const UnwindLimits& limits = {});

}  // namespace offcpud
