// SPDX-License-Identifier: Apache-2.0
#include "pipeline/series_store.h"

namespace offcpud {
namespace {

// What `now` has more than `before`. A counter that went down was started anew (the kernel gave the
// place to another life of the same id): then all of `now` is new.
std::uint64_t increase(std::uint64_t before, std::uint64_t now) {
  return now >= before ? now - before : now;
}

LatencyHistogram increase(const LatencyHistogram* before, const LatencyHistogram& now) {
  if (!before) return now;
  LatencyHistogram difference;
  for (std::size_t i = 0; i < now.slots.size(); ++i) {
    if (now.slots[i] < before->slots[i]) return now;
    difference.slots[i] = now.slots[i] - before->slots[i];
  }
  difference.sum_ns = increase(before->sum_ns, now.sum_ns);
  return difference;
}

}  // namespace

void SeriesStore::credit(std::string_view path, const CgroupReading& reading) {
  Baseline& baseline = baselines_[{reading.cgroup_id, reading.place}];
  add_running(path, increase(baseline.running_ns, reading.running_ns));
  baseline.running_ns = reading.running_ns;
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    const LatencyHistogram* now = reading.histograms[kind].get();
    if (!now) continue;
    std::unique_ptr<LatencyHistogram>& before = baseline.histograms[kind];
    if (before && *before == *now) continue;
    add(path, kind, increase(before.get(), *now));
    if (before) {
      *before = *now;
    } else {
      before = std::make_unique<LatencyHistogram>(*now);
    }
  }
}

void SeriesStore::forget(std::string_view path, const CgroupReading& reading) {
  baselines_.erase({reading.cgroup_id, reading.place});
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    folded_.erase({std::string(path), kind});
  }
}

void SeriesStore::fold(std::string_view path, std::string_view into) {
  const auto found = series_.find(path);
  if (found == series_.end() || path == into) return;
  const SubjectSeries old = std::move(found->second);
  series_.erase(found);
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    if (!old.histograms[kind]) continue;
    --histogram_series_;
    add(into, kind, *old.histograms[kind]);
  }
  add_running(into, old.running_ns);
}

std::vector<std::string> SeriesStore::paths() const {
  std::vector<std::string> paths;
  paths.reserve(series_.size());
  for (const auto& [path, series] : series_) paths.push_back(path);
  return paths;
}

SubjectSeries& SeriesStore::subject(std::string_view path) {
  const auto found = series_.find(path);
  if (found != series_.end()) return found->second;
  SubjectSeries fresh;
  fresh.labels = std::make_shared<const SubjectLabels>(
      path == kOtherCgroup || path == kUnknownCgroup ? SubjectLabels{.cgroup = std::string(path)}
                                                     : labels_of_cgroup(path));
  return series_.emplace(path, std::move(fresh)).first->second;
}

void SeriesStore::add(std::string_view path, std::size_t kind, const LatencyHistogram& more) {
  const auto found = series_.find(path);
  const bool exists = found != series_.end() && found->second.histograms[kind];
  if (!exists && path != kOtherCgroup && histogram_series_ >= max_series_) {
    if (folded_.emplace(path, kind).second) ++folded_total_;
    add(kOtherCgroup, kind, more);
    return;
  }
  // Views that were published keep the old histogram: they are immutable.
  std::shared_ptr<const LatencyHistogram>& total = subject(path).histograms[kind];
  auto sum =
      total ? std::make_shared<LatencyHistogram>(*total) : std::make_shared<LatencyHistogram>();
  if (!total) ++histogram_series_;
  *sum += more;
  total = std::move(sum);
}

void SeriesStore::add_running(std::string_view path, std::uint64_t increase_ns) {
  // A cgroup that never ran has no series yet; one whose histograms do not fit has none of its own.
  if (increase_ns == 0 && !series_.contains(path)) return;
  if (!series_.contains(path) && series_.size() >= max_series_) path = kOtherCgroup;
  subject(path).running_ns += increase_ns;
}

}  // namespace offcpud
