// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "snapshot/difference.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// More than this, decompressed, is neither written nor read back: 50 times what a busy host makes
// in a minute.
inline constexpr std::size_t kMostPprofBytes = std::size_t{64} << 20U;

// The snapshot as a gzipped pprof profile, for `go tool pprof`, speedscope, Parca and Pyroscope:
// values off_cpu/nanoseconds and episodes/count (whole numbers whose sum is that of the snapshot
// to 1), mappings with build ids, one location per frame, labels comm, thread, cgroup, reason, pid
// and, where they apply, state, waker, waker_pid. Readers of pprof see the waiting stack; the rest
// of the snapshot is in fields that they skip. Error: it is beyond kMostPprofBytes.
Result<std::string> pprof_of(const Snapshot& snapshot);

// Later minus earlier, as `go tool pprof -diff_base` shows it. Stacks that did not change are left
// out, so that of two equal ranges has no sample.
Result<std::string> pprof_of(const StackDifference& difference);

// What pprof_of(snapshot) was made of; texts that were not UTF-8 have U+FFFD in their place. Error:
// `bytes` are anything else. Safe with any bytes; memory is bounded.
Result<Snapshot> snapshot_of_pprof(std::string_view bytes);

}  // namespace offcpud
