// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_filter.h"

#include <algorithm>

#include "base/idle_block.h"

namespace offcpud {
namespace {

bool is_idle(const StackEntry& entry) {
  return is_idle_block(entry.reason, entry.wait_for, entry.user.empty());
}

}  // namespace

FilteredEntries::FilteredEntries(const Snapshot& snapshot, const SnapshotFilter& filter)
    : filter_(filter) {
  if (filter.stack) stack_ids_.emplace(snapshot);
  if (filter.frame.empty()) return;
  frame_matches_.reserve(snapshot.frames.size());
  for (const StackFrame& frame : snapshot.frames) {
    frame_matches_.push_back(frame.function.find(filter.frame) != std::string::npos ||
                             frame.object.find(filter.frame) != std::string::npos);
  }
}

bool FilteredEntries::admits(const StackEntry& entry) const {
  if (!filter_.reasons.test(entry.reason)) return false;
  if (!filter_.wait_for.test(static_cast<std::size_t>(entry.wait_for))) return false;
  if (!filter_.site.empty() && filter_.site != entry.site) return false;
  if (!filter_.idle && is_idle(entry)) return false;
  if (filter_.pid && *filter_.pid != entry.pid) return false;
  if (filter_.threads == SnapshotFilter::Threads::User && entry.user.empty()) return false;
  if (filter_.threads == SnapshotFilter::Threads::Kernel && !entry.user.empty()) return false;
  if (!filter_.comm.empty() && filter_.comm != entry.comm && filter_.comm != entry.thread_comm) {
    return false;
  }
  if (!filter_.cgroup.admits(entry.cgroup)) return false;
  if (stack_ids_ && stack_ids_->of(entry) != *filter_.stack) return false;
  return frame_matches_.empty() || has_frame(entry);
}

bool FilteredEntries::has_frame(const StackEntry& entry) const {
  for (const auto* ids : {&entry.user, &entry.kernel, &entry.waker_user, &entry.waker_kernel}) {
    const bool found = std::any_of(ids->begin(), ids->end(),
                                   [this](std::uint32_t id) { return frame_matches_[id]; });
    if (found) return true;
  }
  return false;
}

StackEntry FilteredEntries::reduced(const StackEntry& entry) const {
  StackEntry result = entry;
  if (filter_.frames == SnapshotFilter::Frames::User) {
    result.kernel.clear();
    result.waker_kernel.clear();
  } else if (filter_.frames == SnapshotFilter::Frames::Kernel) {
    result.user.clear();
    result.waker_user.clear();
  }
  return result;
}

}  // namespace offcpud
