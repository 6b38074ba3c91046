// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"

namespace offcpud {

// Numbers of linux/capability.h.
enum class Capability : unsigned {
  DacReadSearch = 2,       // open files that not everybody may read
  SysPtrace = 19,          // read links and memory of other users' processes, such as /proc/PID/exe
  Perfmon = 38,            // load tracing programs, read kernel memory in them
  Bpf = 39,                // create maps, load programs
  CheckpointRestore = 40,  // open what a process maps: /proc/PID/map_files
};

// Whether the effective set of this thread has CAP_BPF and CAP_PERFMON, which loading and attaching
// take. CAP_SYS_ADMIN stands in for both, as it does in the kernel. The error
// (ErrorKind::Permission) names what is missing and says what to do.
Status require_capabilities();

// Gives up every capability but those of `keep` that the thread has: effective, permitted, and the
// bounding set where the kernel allows; inheritable and ambient become empty, for the daemon
// executes nothing. For good. Capabilities belong to a thread: threads that already run keep
// theirs, threads started later inherit the rest, so call it before the first one is started.
Status drop_capabilities(std::span<const Capability> keep);

}  // namespace offcpud
