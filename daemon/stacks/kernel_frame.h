// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "snapshot/snapshot.h"

namespace offcpud {

// A frame from what the kernel calls it (lib/vsprintf.c, %pB): "schedule+0x2a/0x90", with
// " [nf_tables]" for a module; an address for what it does not know.
StackFrame kernel_frame(std::string_view name);

}  // namespace offcpud
