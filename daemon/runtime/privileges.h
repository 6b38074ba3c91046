// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"

namespace offcpud {

// Numbers of linux/capability.h.
enum class Capability : unsigned {
  DacReadSearch = 2,  // read files and walk directories whatever their mode
  SysPtrace = 19,     // see the mappings and the root of other processes
  Bpf = 39,           // create maps, load programs
  Perfmon = 38,       // load tracing programs, read kernel memory in them
};

// What loading and attaching take; for nothing else the daemon starts with more.
inline constexpr Capability kMeasuringCapabilities[] = {Capability::Bpf, Capability::Perfmon};

// Whether the effective set of this thread has every one of `needed`. CAP_SYS_ADMIN stands in for
// CAP_BPF and CAP_PERFMON, as it does in the kernel. The error (ErrorKind::Permission) names what
// is missing and says what to do.
Status require_capabilities(std::span<const Capability> needed = kMeasuringCapabilities);

// Gives up every capability but those of `keep` that the thread has: effective, permitted, and the
// bounding set where the kernel allows; inheritable and ambient become empty, for the daemon
// executes nothing. For good. Capabilities belong to a thread: threads that already run keep
// theirs, threads started later inherit the rest, so call it before the first one is started.
Status drop_capabilities(std::span<const Capability> keep);

}  // namespace offcpud
