// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/result.h"
#include "snapshot/difference.h"
#include "snapshot/snapshot_filter.h"
#include "snapshot/snapshot_merge.h"
#include "stacks/block_filter.h"

namespace offcpud {

enum class SnapshotFormat { Json, Folded, OffWake, Pprof };

// What a request for snapshots asks for: the parameters of /api/v1/snapshots and what lies below,
// and of /debug/pprof/offcpu.
struct SnapshotQuery {
  enum class Path { List, Merge, Difference, Profile };

  SnapshotRange range;
  SnapshotRange base;  // Difference: the earlier range
  SnapshotFilter filter;
  bool cgroup_is_there = false;  // that of the filter is one of the host; not from the parameters
  SnapshotFormat format = SnapshotFormat::Json;
  bool annotate_kernel = true;
  Normalize normalize = Normalize::No;
  std::chrono::seconds length{30};  // Profile: of the time to come
  BlockFilter capture;              // Profile: what is sampled in it

  // Each parameter once at most; those that the path knows. `now` is what -10min is before.
  // Without `from`, a list begins with the first snapshot and the others kDefaultRange ago. Error
  // (ErrorKind::Usage): an unknown parameter or a value that is not allowed, with what is.
  static Result<SnapshotQuery> parse(Path path,
                                     const std::multimap<std::string, std::string>& parameters,
                                     WallTime now);

  static constexpr std::chrono::minutes kDefaultRange{10};
  static constexpr std::chrono::seconds kMostLength{300};
};

}  // namespace offcpud
