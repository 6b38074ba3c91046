// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/bpf_session.h"
#include "kernel/bpf_unwind_maps.h"

namespace offcpud {

// The maps with the tables by which the session's programs walk user stacks.
UnwindMapHandles unwind_map_handles(const BpfSession& session);

}  // namespace offcpud
