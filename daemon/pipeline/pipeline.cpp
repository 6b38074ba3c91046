// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace offcpud {
namespace {

// How long after rmdir the kernel's place of a cgroup is given to another one. rmdir needs all
// threads to be gone but for the last steps of do_exit(), so seconds are plenty; the series lives
// on.
constexpr std::chrono::seconds kQuiescence{10};

constexpr std::chrono::seconds kLongestMiss{300};
constexpr std::chrono::seconds kWalkInterval{10};

bool is_under_removed(std::string_view path) {
  return path.ends_with(kRemovedCgroup);
}

std::string removed_below(const std::string& ancestor) {
  return (ancestor == "/" ? "" : ancestor) + "/" + std::string(kRemovedCgroup);
}

// "/a/(removed)" belongs to "/a", "/(removed)" to "/".
std::string owner_of(std::string_view path) {
  if (is_under_removed(path)) path.remove_suffix(kRemovedCgroup.size() + 1);
  return path.empty() ? "/" : std::string(path);
}

}  // namespace

Pipeline::Pipeline(SampleSource& source, CgroupIndex cgroups, const Clock& clock,
                   PipelineOptions options)
    : source_(source),
      cgroups_(std::move(cgroups)),
      clock_(clock),
      options_(options),
      store_(options.max_series) {}

Status Pipeline::start() {
  return cgroups_.rescan(clock_.now());
}

void Pipeline::set_options(PipelineOptions options) {
  options_ = options;
  store_.set_max_series(options.max_series);
}

Result<std::shared_ptr<const View>> Pipeline::attribute(const KernelSample& sample) {
  TRY_VOID(name_unknown(sample));
  for (const CgroupReading& reading : sample.cgroups) {
    store_.credit(path_of(reading.cgroup_id), reading);
  }
  TRY_VOID(retire_removed(sample));
  fold_removed();

  auto view = std::make_shared<View>();
  view->taken = clock_.now();
  view->taken_wall = clock_.wall();
  view->subjects.reserve(store_.series().size());
  for (const auto& [path, series] : store_.series()) view->subjects.push_back(series);
  view->losses = sample.losses;
  view->left_censored = sample.left_censored;
  view->maps = sample.maps;
  view->histogram_series = store_.histogram_series();
  view->folded_series = store_.folded_series();
  return std::shared_ptr<const View>(std::move(view));
}

std::string Pipeline::path_of(std::uint64_t cgroup_id) const {
  if (cgroup_id == 0) return std::string(kOtherCgroup);
  const CgroupEntry* entry = cgroups_.find(cgroup_id);
  return entry ? entry->path : std::string(kUnknownCgroup);
}

// One walk a pass at most, and only when something has no name, or when changes were missed: an
// event was lost, or cgroup events are not to be had on this kernel. A cgroup outside of the
// visible hierarchy never gets a name, so each miss is looked for again at growing intervals.
Status Pipeline::name_unknown(const KernelSample& sample) {
  const MonotonicTime now = clock_.now();
  missed_changes_ = missed_changes_ || sample.missed_cgroup_changes;
  bool walk = missed_changes_ && now - walked_ >= kWalkInterval;
  for (const CgroupReading& reading : sample.cgroups) {
    if (reading.cgroup_id == 0 || cgroups_.find(reading.cgroup_id)) continue;
    Miss& miss = misses_[reading.cgroup_id];
    if (now < miss.retry) continue;
    miss.retry = now + miss.wait;
    miss.wait = std::min(2 * miss.wait, kLongestMiss);
    walk = true;
  }
  if (!walk) return {};
  TRY_VOID(cgroups_.rescan(now));
  walked_ = now;
  missed_changes_ = false;
  std::erase_if(misses_, [&](const auto& miss) { return cgroups_.find(miss.first) != nullptr; });
  return {};
}

Status Pipeline::retire_removed(const KernelSample& sample) {
  std::vector<std::uint64_t> quiet;
  for (const CgroupReading& reading : sample.cgroups) {
    const CgroupEntry* entry = cgroups_.find(reading.cgroup_id);
    if (entry && entry->removed && clock_.now() - *entry->removed >= kQuiescence) {
      quiet.push_back(reading.cgroup_id);
    }
  }
  if (quiet.empty()) return {};
  TRY(const std::vector<CgroupReading> last, source_.retire(quiet));
  for (const CgroupReading& reading : last) {
    store_.credit(path_of(reading.cgroup_id), reading);
    store_.forget(reading.cgroup_id);
  }
  return {};
}

// A path without a cgroup keeps its series for `linger`; then they are added to "(removed)" below
// the nearest ancestor that still lives. The same holds for a "(removed)" whose owner is gone.
void Pipeline::fold_removed() {
  const MonotonicTime now = clock_.now();
  for (const std::string& path : store_.paths()) {
    if (path == kOtherCgroup || path == kUnknownCgroup) continue;
    const std::string owner = owner_of(path);
    if (cgroups_.is_live(owner)) {
      gone_since_.erase(path);
      continue;
    }
    const auto gone = gone_since_.try_emplace(path, now).first;
    if (now - gone->second < options_.linger) continue;
    store_.fold(path, removed_below(cgroups_.nearest_live_ancestor(owner)));
    gone_since_.erase(gone);
  }
  cgroups_.forget_removed(now - options_.linger - 2 * kQuiescence);
}

}  // namespace offcpud
