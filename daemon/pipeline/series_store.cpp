// SPDX-License-Identifier: Apache-2.0
#include "pipeline/series_store.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/hist_kind.h"

namespace offcpud {
namespace {

// A counter that went down has restarted, because the kernel gave the place to the same id again:
// then all of `now` is new.
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

template <std::size_t N>
std::array<std::uint64_t, N> increase(const std::array<std::uint64_t, N>& before,
                                      const std::array<std::uint64_t, N>& now) {
  std::array<std::uint64_t, N> difference{};
  for (std::size_t i = 0; i < N; ++i) difference[i] = increase(before[i], now[i]);
  return difference;
}

template <std::size_t N>
void add_to(std::array<std::uint64_t, N>& total, const std::array<std::uint64_t, N>& more) {
  std::transform(total.begin(), total.end(), more.begin(), total.begin(), std::plus<>());
}

// The kinds (bits) that have their series together with this one.
std::uint32_t together_with(std::size_t kind) {
  constexpr std::uint32_t kTogether = 1U << OFFCPUD_RUNQ_WAKEUP | 1U << OFFCPUD_RUNQ_PREEMPTED;
  return (kTogether >> kind & 1U) != 0 ? kTogether : 1U << kind;
}

// Whether the series holds counts that other series had before.
bool takes_over(std::string_view path) {
  return path == kOtherCgroup || is_removed_series(path);
}

}  // namespace

std::shared_ptr<const SubjectLabels> labels_of_series(std::string_view path) {
  if (path == kOtherCgroup || path == kUnknownCgroup) {
    return std::make_shared<const SubjectLabels>(SubjectLabels{.cgroup = std::string(path)});
  }
  return std::make_shared<const SubjectLabels>(labels_of_cgroup(path));
}

SeriesStore::Counters SeriesStore::Counters::since(const Counters& before) const {
  return {.running_ns = increase(before.running_ns, running_ns),
          .preemptions = increase(before.preemptions, preemptions),
          .wakeups = increase(before.wakeups, wakeups)};
}

void SeriesStore::account(std::string_view path, const CgroupReading& reading) {
  Baseline& baseline = baselines_[{reading.cgroup_id, reading.place}];
  const Counters counters{reading.running_ns, reading.preemptions, reading.wakeups};
  const Counters more = counters.since(baseline.counters);
  // The unaccounted time may rise or fall, so only the running time shows that the place restarted.
  if (counters.running_ns < baseline.counters.running_ns) baseline.unaccounted_ns = 0;
  account(path, more.running_ns, reading.unaccounted_ns - baseline.unaccounted_ns);
  add(path, more);
  baseline.counters = counters;
  baseline.unaccounted_ns = reading.unaccounted_ns;
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    const LatencyHistogram* now = reading.histograms[kind].get();
    if (!now) continue;
    std::unique_ptr<LatencyHistogram>& before = baseline.histograms[kind];
    if (before && *before == *now) continue;
    const LatencyHistogram difference = increase(before.get(), *now);
    account(path, difference.sum_ns, 0);
    add(path, kind, difference);
    if (is_blocked_kind(kind) && (examined_kinds_ >> kind & 1U) == 0) {
      add_waits(path, WaitFor::Unknown, difference, start_of_new_);
    }
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
  for (std::size_t each = 0; each < kWaitForNames.size(); ++each) {
    folded_.erase({std::string(path), OFFCPUD_HIST_KINDS + each});
  }
  if (!contains(path)) erase_accounted(path);
}

void SeriesStore::fold(std::string_view path, std::string_view into) {
  const auto found = series_.find(path);
  if (found == series_.end() || path == into) return;
  const SubjectSeries old = std::move(found->second);
  series_.erase(found);
  const auto exists = [](const auto& series) { return series != nullptr; };
  histogram_series_ -= static_cast<std::size_t>(std::ranges::count_if(old.histograms, exists) +
                                                std::ranges::count_if(old.waits, exists));
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    const auto& histogram = old.histograms[kind];
    if (!histogram || *histogram == LatencyHistogram{}) continue;
    begin(into, kind);
    add(into, kind, *histogram);
  }
  for (std::size_t each = 0; each < old.waits.size(); ++each) {
    if (!old.waits[each] || old.waits[each]->is_new()) continue;
    begin_waits(into, static_cast<WaitFor>(each), old.waits_started[each]);
    add_waits(into, static_cast<WaitFor>(each), *old.waits[each], old.waits_started[each]);
  }
  const Counters counters{old.running_ns, old.preemptions, old.wakeups};
  if (counters != Counters{}) subject(into);  // has room, as `path` had
  add(into, counters);
  erase_accounted(path);
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
  fresh.labels = labels_of_series(path);
  return series_.emplace(path, std::move(fresh)).first->second;
}

bool SeriesStore::open(std::string_view path, std::size_t kind) {
  const auto found = series_.find(path);
  if (found != series_.end() && found->second.histograms[kind]) return true;
  const int places = std::popcount(together_with(kind));
  if (!admit(path, kind, static_cast<std::size_t>(places))) return false;
  begin(path, kind);
  return true;
}

// Whether there is room for it or not.
void SeriesStore::begin(std::string_view path, std::size_t kind) {
  static const auto kEmpty = std::make_shared<const LatencyHistogram>();
  SubjectSeries& series = subject(path);
  for (std::size_t each = 0; each < OFFCPUD_HIST_KINDS; ++each) {
    if ((together_with(kind) >> each & 1U) == 0 || series.histograms[each]) continue;
    series.histograms[each] = kEmpty;
    series.started[each] = takes_over(path) ? counting_since_ : start_of_new_;
    ++histogram_series_;
  }
}

void SeriesStore::add(std::string_view path, std::size_t kind, const LatencyHistogram& more) {
  if (!open(path, kind)) return add(kOtherCgroup, kind, more);
  // A new object, because published Views keep the old histogram.
  std::shared_ptr<const LatencyHistogram>& total = subject(path).histograms[kind];
  auto sum = std::make_shared<LatencyHistogram>(*total);
  *sum += more;
  total = std::move(sum);
}

// Whether there is room for this many more series; if not, `series` is folded.
bool SeriesStore::admit(std::string_view path, std::size_t series, std::size_t places) {
  if (path == kOtherCgroup) return true;
  while (histogram_series_ + places > max_series_) {
    if (make_room_ && make_room_(path)) continue;
    if (folded_.emplace(path, series).second) ++folded_total_;
    return false;
  }
  return true;
}

void SeriesStore::add_waits(std::string_view path, const EndedWaits& ended, WallTime since) {
  add_waits(path, ended.wait_for, ended.waits, since);
}

bool SeriesStore::open_waits(std::string_view path, WaitFor wait_for, WallTime since) {
  const auto index = static_cast<std::size_t>(wait_for);
  const auto found = series_.find(path);
  if (found != series_.end() && found->second.waits[index]) return true;
  if (!admit(path, OFFCPUD_HIST_KINDS + index, 1)) return false;
  begin_waits(path, wait_for, since);
  return true;
}

void SeriesStore::begin_waits(std::string_view path, WaitFor wait_for, WallTime since) {
  const auto index = static_cast<std::size_t>(wait_for);
  static const auto kEmpty = std::make_shared<const EstimatedHistogram>();
  SubjectSeries& series = subject(path);
  if (series.waits[index]) return;
  series.waits[index] = kEmpty;
  series.waits_started[index] = takes_over(path) ? counting_since_ : since;
  ++histogram_series_;
}

template <typename Increase>
void SeriesStore::add_waits(std::string_view path, WaitFor wait_for, const Increase& more,
                            WallTime since) {
  if (!open_waits(path, wait_for, since)) {
    return add_waits(kOtherCgroup, wait_for, more, since);
  }
  std::shared_ptr<const EstimatedHistogram>& total =
      subject(path).waits[static_cast<std::size_t>(wait_for)];
  auto sum = std::make_shared<EstimatedHistogram>(*total);
  *sum += more;
  total = std::move(sum);
}

void SeriesStore::add(std::string_view path, const Counters& more) {
  // A cgroup that never ran has no series yet. The number of cgroups has the same limit as
  // histograms.
  if (!contains(path)) {
    if (more == Counters{}) return;
    if (!admit_row(path)) path = kOtherCgroup;
  }
  SubjectSeries& total = subject(path);
  total.running_ns += more.running_ns;
  add_to(total.preemptions, more.preemptions);
  add_to(total.wakeups, more.wakeups);
}

bool SeriesStore::admit_row(std::string_view path) {
  while (series_.size() >= max_series_) {
    if (!make_room_ || !make_room_(path)) return false;
  }
  return true;
}

void SeriesStore::account(std::string_view path, std::uint64_t accounted_ns,
                          std::uint64_t unaccounted_ns) {
  if (accounted_ns == 0 && unaccounted_ns == 0) return;
  auto found = accounted_.find(path);
  if (found == accounted_.end()) found = accounted_.emplace(path, AccountedTime{}).first;
  found->second.accounted_ns += accounted_ns;
  found->second.unaccounted_ns += unaccounted_ns;
}

// Bounds accounted_ in case nobody calls take_accounted() while cgroups come and go.
void SeriesStore::erase_accounted(std::string_view path) {
  const auto found = accounted_.find(path);
  if (found != accounted_.end()) accounted_.erase(found);
}

}  // namespace offcpud
