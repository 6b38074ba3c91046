// SPDX-License-Identifier: Apache-2.0
#include "push/pushed_profile.h"

#include <utility>

#include "snapshot/pprof.h"
#include "snapshot/snapshot_merge.h"

namespace offcpud {

Result<PushItem> pushed_profile(Snapshot snapshot) {
  for (StackEntry& entry : snapshot.entries) {
    entry = StackEntry{.comm = std::move(entry.comm),
                       .cgroup = std::move(entry.cgroup),
                       .reason = entry.reason,
                       .wait_for = entry.wait_for,
                       .user = std::move(entry.user),
                       .kernel = std::move(entry.kernel),
                       .ns = entry.ns,
                       .episodes = entry.episodes,
                       .variance = entry.variance};
  }
  SnapshotSum sum({});
  sum.add(snapshot);
  TRY(auto pprof, pprof_of(sum.take()));
  // Not snapshot.end: the wall clock may have been set back in between.
  const WallTime end =
      snapshot.begin + std::chrono::duration_cast<WallTime::duration>(snapshot.covered());
  return PushItem{.begin = snapshot.begin, .end = end, .pprof = std::move(pprof)};
}

}  // namespace offcpud
