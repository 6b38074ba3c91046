// SPDX-License-Identifier: Apache-2.0
#include "changes/range_sums.h"

#include <algorithm>

#include "base/hist_kind.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostFunctions = 5;

std::vector<std::string> innermost(const Snapshot& snapshot, const StackEntry& entry) {
  std::vector<std::string> functions;
  for (auto id = entry.user.rbegin(); id != entry.user.rend(); ++id) {
    if (functions.size() == kMostFunctions) break;
    functions.push_back(snapshot.frames[*id].function);
  }
  return functions;
}

}  // namespace

struct RangeSums::Waits {
  std::string_view cgroup;
  std::size_t kind = 0;
  std::string_view site;
  double ns = 0, variance_ns2 = 0, child_ns = 0;
  const Snapshot* snapshot = nullptr;  // both null: a window, which has no stacks
  const StackEntry* entry = nullptr;
};

void RangeSums::add(const Snapshot& snapshot) {
  for (const StackEntry& entry : snapshot.entries) {
    const auto ns = static_cast<double>(entry.ns);
    if (is_without_stack(snapshot, entry)) {
      range_.lost_ns += ns;
      continue;
    }
    add(Waits{.cgroup = entry.cgroup,
              .kind = static_cast<std::size_t>(entry.wait_for),
              .site = entry.site,
              .ns = ns,
              .variance_ns2 = entry.variance,
              .child_ns = entry.reason == OFFCPUD_BLOCKED_CHILD ? ns : 0,
              .snapshot = &snapshot,
              .entry = &entry});
  }
  ++range_.snapshots;
  extend(snapshot.begin, snapshot.end, snapshot.covered());
  for (const std::string& filter : snapshot.captured) {
    const auto place = std::ranges::lower_bound(range_.captured, filter);
    if (place == range_.captured.end() || *place != filter) range_.captured.insert(place, filter);
  }
}

void RangeSums::add(const SiteWindow& window, WallTime end) {
  for (const CgroupWaits& waits : window.sites) {
    add(Waits{.cgroup = *waits.cgroup,
              .kind = static_cast<std::size_t>(waits.wait_for),
              .site = *waits.site,
              .ns = waits.time.ns,
              .variance_ns2 = waits.time.variance_ns2,
              .child_ns = waits.child.ns});
  }
  range_.lost_ns += window.lost_ns;
  const auto length = std::chrono::duration_cast<WallTime::duration>(window.length());
  extend(end - length, end, window.length());
}

void RangeSums::add(const CpuStep& step) {
  for (const CpuStep::Subject& subject : step.subjects) {
    const std::string& cgroup = subject.labels->cgroup;
    if (!scope_.cgroup.admits(cgroup)) continue;
    has_cgroup_ = true;
    running_ns_[names_.of(cgroup)] += static_cast<double>(subject.running_ns);
    for (std::size_t i = 0; i < CpuStep::kKinds; ++i) {
      const bool throttled = OFFCPUD_BLOCKED_KINDS + i == OFFCPUD_RUNQ_THROTTLED;
      add(Waits{.cgroup = cgroup,
                .kind = throttled ? kThrottledWait : kCpuWait,
                .site = {},
                .ns = static_cast<double>(subject.waited_ns[i])});
    }
  }
  range_.cpu_covered += step.length;
  end_interval(step.length);
}

void RangeSums::add(const Waits& waits) {
  if (waits.ns <= 0 || !scope_.cgroup.admits(waits.cgroup)) return;
  has_cgroup_ = true;
  if (!scope_.kinds.test(waits.kind) || leaves_out(waits)) return;
  if (with_sites_ && !scope_.site.empty() && waits.site != scope_.site) return;
  PlaceSum& sum = place_of(waits.cgroup, waits.kind, waits.site);
  sum.ns += waits.ns;
  sum.variance_ns2 += waits.variance_ns2;
  interval_ns_[&sum] += waits.ns;
  if (waits.ns <= sum.largest_ns) return;
  sum.largest_ns = waits.ns;
  sum.cgroup = waits.cgroup;
  if (waits.entry && with_sites_) sum.functions = innermost(*waits.snapshot, *waits.entry);
}

// What a child waits for, it says itself.
bool RangeSums::leaves_out(const Waits& waits) {
  if (scope_.idle) return false;
  if (waits.kind == static_cast<std::size_t>(WaitFor::Work)) {
    range_.work_ns += waits.ns;
  } else if (waits.kind == static_cast<std::size_t>(WaitFor::Timer)) {
    range_.timer_ns += waits.ns;
  } else if (waits.child_ns > waits.ns / 2) {
    range_.child_ns += waits.ns;
  } else {
    return false;
  }
  return true;
}

PlaceSum& RangeSums::place_of(std::string_view cgroup, std::size_t kind, std::string_view site) {
  // Windows have no sites of idle waits.
  const bool by_site = with_sites_ && !is_idle_kind(kind);
  ChangePlace place{
      .unit = names_.of(cgroup), .kind = kind, .site = by_site ? std::string(site) : std::string()};
  const auto found = places_.find(place);
  if (found != places_.end()) return found->second;
  if (places_.size() >= kMostPlaces) {
    place.unit = kOtherCgroup;
    place.site.clear();
  }
  return places_[std::move(place)];
}

void RangeSums::extend(WallTime begin, WallTime end, std::chrono::nanoseconds covered) {
  const bool first = range_.covered == std::chrono::nanoseconds(0) && range_.begin == range_.end;
  range_.begin = first ? begin : std::min(range_.begin, begin);
  range_.end = first ? end : std::max(range_.end, end);
  // Files may claim centuries.
  range_.covered += std::min(covered, decltype(range_.covered)::max() - range_.covered);
  end_interval(covered);
}

void RangeSums::end_interval(std::chrono::nanoseconds length) {
  for (const auto& [sum, ns] : interval_ns_) {
    if (length.count() > 0) {
      sum->most = std::max(sum->most, ns / static_cast<double>(length.count()));
    }
  }
  interval_ns_.clear();
}

}  // namespace offcpud
