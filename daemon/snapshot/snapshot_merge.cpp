// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_merge.h"

#include <algorithm>
#include <utility>

namespace offcpud {

void SnapshotSum::add(const Snapshot& snapshot) {
  const FilteredEntries filtered(snapshot, filter_);
  table_.use_frames_of(snapshot);
  for (const StackEntry& entry : snapshot.entries) {
    has_cgroup_ = has_cgroup_ || filter_.cgroup.admits(entry.cgroup);
    if (!filtered.admits(entry)) {
      if (is_without_stack(snapshot, entry)) result_.lost_of_any_ns += entry.ns;
      continue;
    }
    const bool all_frames = filter_.frames == SnapshotFilter::Frames::All;
    const std::size_t place =
        table_.place_of(snapshot, all_frames ? entry : filtered.reduced(entry));
    StackEntry& sum = table_.at(place);
    sum.ns += entry.ns;
    sum.episodes += entry.episodes;
    sum.variance += entry.variance;
  }
  const bool first = std::exchange(empty_, false);
  add_interval(snapshot, first);
  result_.begin = first ? snapshot.begin : std::min(result_.begin, snapshot.begin);
  result_.end = first ? snapshot.end : std::max(result_.end, snapshot.end);
  // Files may claim centuries.
  result_.duration +=
      std::min(snapshot.covered(), decltype(result_.duration)::max() - result_.duration);
  result_.sequence = std::max(result_.sequence, snapshot.sequence);
  result_.partial = result_.partial || snapshot.partial;
  result_.lost_of_any_ns += snapshot.lost_of_any_ns;
  for (const std::string& filter : snapshot.captured) {
    const auto place = std::ranges::lower_bound(result_.captured, filter);
    if (place == result_.captured.end() || *place != filter) result_.captured.insert(place, filter);
  }
}

// Older snapshots have one interval for all reasons.
void SnapshotSum::add_interval(const Snapshot& snapshot, bool first) {
  const bool by_reason = snapshot.reason_intervals != ReasonIntervals{};
  const auto interval = by_reason ? longest_of(snapshot.reason_intervals, filter_.kinds())
                                  : snapshot.sampling_interval;
  const bool known = (first || result_.sampling_interval.count() > 0) && interval.count() > 0;
  result_.sampling_interval =
      known ? std::max(result_.sampling_interval, interval) : std::chrono::nanoseconds(0);
  has_reason_intervals_ = has_reason_intervals_ && by_reason;
  keep_longer(result_.reason_intervals, snapshot.reason_intervals);
  if (!has_reason_intervals_) result_.reason_intervals = {};
}

Snapshot SnapshotSum::take() {
  table_.move_to(result_);
  return std::move(result_);
}

MergedSnapshots merge(const SnapshotLibrary& library, const SnapshotRange& range,
                      const SnapshotFilter& filter, const std::stop_token& stop) {
  MergedSnapshots merged;
  SnapshotSum sum(filter);
  for (const StoredSnapshot& stored : library.list()) {
    if (stop.stop_requested()) break;
    if (!range.contains(stored.name)) continue;
    const auto snapshot = library.load(stored.name.sequence);
    if (!snapshot) {
      ++merged.unreadable;
    } else if (*snapshot) {
      sum.add(**snapshot);
      ++merged.snapshots;
    }
  }
  merged.has_cgroup = sum.has_cgroup();
  merged.sum = sum.take();
  return merged;
}

}  // namespace offcpud
