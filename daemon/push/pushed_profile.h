// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "push/push_queue.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// The profile of a snapshot as Pyroscope wants it: it makes a series of each combination of labels
// (5,000 in all unless its limits say otherwise), so samples have comm, cgroup and reason only, and
// those that differ in thread, process or waker are one. Sums are those of the snapshot. Error: the
// profile is too large.
Result<PushItem> pushed_profile(Snapshot snapshot);

}  // namespace offcpud
