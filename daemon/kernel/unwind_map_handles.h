// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/bpf_session.h"
#include "kernel/bpf_unwind_maps.h"

namespace offcpud {

// The tables by which the programs of a session walk user stacks.
UnwindMapHandles unwind_map_handles(const BpfSession& session);

}  // namespace offcpud
