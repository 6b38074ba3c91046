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

// The parameters of a request to /api/v1/snapshots, to a path below it, or to /debug/pprof/offcpu.
struct SnapshotQuery {
  enum class Path { List, Merge, Difference, Profile };

  SnapshotRange range;
  SnapshotRange base;  // Difference: the earlier range
  SnapshotFilter filter;
  bool cgroup_is_there = false;  // the host has the filter's cgroup; not set by parse()
  bool by_for = false;           // List: also the sums by what waits were for
  SnapshotFormat format = SnapshotFormat::Json;
  bool annotate_kernel = true;
  Normalize normalize = Normalize::No;
  std::chrono::seconds length{30};  // Profile: how long to sample from now on
  BlockFilter capture;              // Profile: which blocks to sample

  // Accepts the parameters that `path` knows, each at most once. Relative times such as -10min are
  // before `now`. Without `from`, List begins with the first snapshot and the others begin
  // kDefaultRange ago. Error (ErrorKind::Usage): names the unknown parameter or refused value, and
  // says what is allowed.
  static Result<SnapshotQuery> parse(Path path,
                                     const std::multimap<std::string, std::string>& parameters,
                                     WallTime now);

  static constexpr std::chrono::minutes kDefaultRange{10};
  static constexpr std::chrono::seconds kMostLength{300};
};

}  // namespace offcpud
