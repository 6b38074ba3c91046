// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "snapshot/difference.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// Limit of a decompressed profile, written or read: 50 times what a busy host makes in a minute.
inline constexpr std::size_t kMostPprofBytes = std::size_t{64} << 20U;

// The snapshot as a gzipped pprof profile, for `go tool pprof`, speedscope, Parca and Pyroscope.
// Values are off_cpu/nanoseconds and episodes/count (whole numbers, whose sum differs from the
// snapshot's by less than 1). There are mappings with build-ids, one location per frame, and the
// labels comm, thread, cgroup, reason, for, pid and, where they apply, site, state, waker and
// waker_pid. Readers of pprof see the waiting stack; the rest of the snapshot is in fields that
// they skip. Error: it exceeds kMostPprofBytes.
Result<std::string> pprof_of(const Snapshot& snapshot);

// Later minus earlier, as `go tool pprof -diff_base` shows it. Unchanged stacks are left out, so
// the difference of equal ranges has no samples.
Result<std::string> pprof_of(const StackDifference& difference);

// Reads the result of pprof_of(snapshot); bytes that were not UTF-8 come back as U+FFFD. Error:
// `bytes` are anything else. Safe for any bytes; memory is bounded.
Result<Snapshot> snapshot_of_pprof(std::string_view bytes);

}  // namespace offcpud
