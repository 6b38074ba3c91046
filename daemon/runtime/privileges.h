// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"

namespace offcpud {

// Values are those of linux/capability.h.
enum class Capability : unsigned {
  DacReadSearch = 2,       // open files that not everybody may read
  SysPtrace = 19,          // read links and memory of other users' processes: /proc/PID/exe
  Perfmon = 38,            // load tracing programs, read kernel memory in them
  Bpf = 39,                // create maps, load programs
  CheckpointRestore = 40,  // open files that a process maps: /proc/PID/map_files
};

// Checks that the effective set of this thread has CAP_BPF and CAP_PERFMON, which loading and
// attaching need, or CAP_SYS_ADMIN, which the kernel accepts for both. The error
// (ErrorKind::Permission) names what is missing and what to do.
Status require_capabilities();

// Whether the effective set of this thread has the capability; false if the kernel does not tell.
bool has_capability(Capability capability);

// Drops every capability except those of `keep` that the thread has: from the effective and
// permitted sets, and from the bounding set if the kernel allows. Clears the inheritable and
// ambient sets, since the daemon executes nothing. Permanent. It affects this thread and threads
// started later, so call it before the first one is started.
Status drop_capabilities(std::span<const Capability> keep);

}  // namespace offcpud
