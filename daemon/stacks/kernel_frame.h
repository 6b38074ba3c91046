// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "snapshot/snapshot.h"

namespace offcpud {

// Makes a frame of the kernel's text for an address (lib/vsprintf.c, %pB): "schedule+0x2a/0x90",
// with " [nf_tables]" for a module, or the address itself if it is unknown.
StackFrame kernel_frame(std::string_view name);

}  // namespace offcpud
