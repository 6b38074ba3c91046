// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "push/push_queue.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// The profile of a snapshot for Pyroscope. Pyroscope makes a series of each combination of labels
// (its default limit is 5,000), so samples have only comm, cgroup, reason and for; samples that
// differ only in thread, process, site or waker are merged. Sums are those of the snapshot. Error:
// the profile is too large.
Result<PushItem> pushed_profile(Snapshot snapshot);

}  // namespace offcpud
