// SPDX-License-Identifier: Apache-2.0
#include "pipeline/waited_on.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

#include "attribution/subject.h"

namespace offcpud {
namespace {

// What has not been waited on for an hour gives way to almost anything.
constexpr std::chrono::duration<double> kHalfLifeOfInterest = std::chrono::minutes(10);
// A place is not given to one that is as long: they would take turns for ever.
constexpr double kMuchLonger = 1.5;
constexpr std::size_t kMostCandidates = 100;

}  // namespace

void WaitedOnStore::fade(Cgroup& cgroup, MonotonicTime now) const {
  if (now <= cgroup.faded) return;
  const std::chrono::duration<double> passed = now - std::exchange(cgroup.faded, now);
  const double left = std::exp2(-passed / kHalfLifeOfInterest);
  for (auto& [key, sum] : cgroup.named) sum.recent_ns *= left;
  for (auto& [key, recent_ns] : cgroup.candidates) recent_ns *= left;
}

void WaitedOnStore::add(std::string_view path, const PeerWaits& waits, MonotonicTime now) {
  if (waits.ended.ns <= 0) return;
  auto found = cgroups_.find(path);
  if (found == cgroups_.end()) found = cgroups_.emplace(std::string(path), Cgroup{}).first;
  Cgroup& cgroup = found->second;
  fade(cgroup, now);
  cgroup.rows.reset();
  const Key key(waits.wait_for, waits.on);
  const bool unnamed = is_no_name(waits.on);
  const bool has_one =
      unnamed || has_place(cgroup, key) || takes_place(cgroup, key, waits.ended.ns);
  Sum& sum = unnamed   ? cgroup.unnamed[key]
             : has_one ? cgroup.named[key]
                       : cgroup.unnamed[{waits.wait_for, std::string(kOtherCgroup)}];
  sum.ns += waits.ended.ns;
  sum.variance_ns2 += waits.ended.variance_ns2;
  sum.recent_ns += waits.ended.ns;
}

// Of a key that has a place, or gets one because there is room.
bool WaitedOnStore::has_place(Cgroup& cgroup, const Key& key) {
  if (cgroup.named.contains(key)) return true;
  if (cgroup.named.size() >= kMostOfCgroup) return false;
  if (named_ >= kMost) {
    Cgroup* const gives = largest();
    if (gives == nullptr || gives->named.size() <= cgroup.named.size() + 1) return false;
    drop_least(*gives);
  }
  cgroup.candidates.erase(key);
  cgroup.named.emplace(key, Sum{});
  ++named_;
  return true;
}

// Of a key that has none: its time of late decides. Until it has a place its time is "(other)".
bool WaitedOnStore::takes_place(Cgroup& cgroup, const Key& key, double ns) {
  if (cgroup.named.empty()) return false;
  const auto shortest = [](const auto& a, const auto& b) { return a.second < b.second; };
  auto& candidates = cgroup.candidates;
  if (!candidates.contains(key) && candidates.size() >= kMostCandidates) {
    candidates.erase(std::ranges::min_element(candidates, shortest));
  }
  double& recent_ns = candidates[key];
  recent_ns += ns;
  const auto least = std::ranges::min_element(cgroup.named, [](const auto& a, const auto& b) {
    return a.second.recent_ns < b.second.recent_ns;
  });
  if (recent_ns < kMuchLonger * least->second.recent_ns) return false;
  const double kept_ns = recent_ns - ns;
  drop(cgroup, least);
  candidates.erase(key);
  cgroup.named.emplace(key, Sum{.recent_ns = kept_ns});
  ++named_;
  return true;
}

void WaitedOnStore::drop_least(Cgroup& cgroup) {
  drop(cgroup, std::ranges::min_element(cgroup.named, [](const auto& a, const auto& b) {
         return a.second.recent_ns < b.second.recent_ns;
       }));
}

void WaitedOnStore::drop(Cgroup& cgroup, std::map<Key, Sum>::iterator one) {
  Sum& other = cgroup.unnamed[{one->first.first, std::string(kOtherCgroup)}];
  other.ns += one->second.ns;
  other.variance_ns2 += one->second.variance_ns2;
  cgroup.named.erase(one);
  cgroup.rows.reset();
  --named_;
}

WaitedOnStore::Cgroup* WaitedOnStore::largest() {
  Cgroup* most = nullptr;
  for (auto& [path, cgroup] : cgroups_) {
    if (most == nullptr || cgroup.named.size() > most->named.size()) most = &cgroup;
  }
  return most;
}

void WaitedOnStore::fold(std::string_view path, std::string_view into, MonotonicTime now) {
  const auto found = cgroups_.find(path);
  if (found == cgroups_.end() || path == into) return;
  const Cgroup folded = std::move(found->second);
  cgroups_.erase(found);
  named_ -= folded.named.size();
  for (const auto* sums : {&folded.named, &folded.unnamed}) {
    for (const auto& [key, sum] : *sums) {
      PeerWaits waits;
      waits.wait_for = key.first;
      waits.on = key.second;
      waits.ended = {.ns = sum.ns, .variance_ns2 = sum.variance_ns2};
      add(into, waits, now);
    }
  }
}

WaitedOnStore::Rows WaitedOnStore::of(std::string_view path) {
  const auto found = cgroups_.find(path);
  if (found == cgroups_.end()) return nullptr;
  Cgroup& cgroup = found->second;
  if (cgroup.rows) return cgroup.rows;
  auto rows = std::make_shared<std::vector<WaitedOn>>();
  for (const auto* sums : {&cgroup.named, &cgroup.unnamed}) {
    for (const auto& [key, sum] : *sums) {
      rows->push_back({.wait_for = key.first,
                       .on = key.second,
                       .ns = static_cast<std::uint64_t>(sum.ns),
                       .variance_ns2 = sum.variance_ns2});
    }
  }
  std::ranges::sort(*rows, {}, [](const WaitedOn& row) { return std::tie(row.wait_for, row.on); });
  cgroup.rows = std::move(rows);
  return cgroup.rows;
}

namespace {

using RowKey = std::tuple<std::string, WaitFor, std::string>;  // cgroup, what for, on

struct RowTime {
  WaitTime time, child;

  RowTime& operator+=(const RowTime& other) {
    time += other.time;
    child += other.child;
    return *this;
  }
};
using RowSums = std::map<RowKey, RowTime>;

RowSums sums_by_unit_waited_on(const WaitWindow& window) {
  RowSums sums;
  for (const PeerWaits& waits : window.peers) {
    if (waits.time.ns <= 0) continue;
    sums[{waits.cgroup, waits.wait_for, waits.on}] += {waits.time, waits.child};
  }
  return sums;
}

void fold_shortest(RowSums& sums, std::size_t most) {
  if (sums.size() <= most) return;
  std::vector<RowSums::iterator> rows;
  rows.reserve(sums.size());
  for (auto row = sums.begin(); row != sums.end(); ++row) {
    if (!is_no_name(std::get<2>(row->first))) rows.push_back(row);
  }
  const std::size_t unnamed = sums.size() - rows.size();
  const std::size_t kept = std::min(rows.size(), most - std::min(most, unnamed));
  std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(kept),
                           std::ranges::greater(),
                           [](const auto& row) { return row->second.time.ns; });
  for (std::size_t i = kept; i < rows.size(); ++i) {
    const auto folded = sums.extract(rows[i]);
    const auto& [cgroup, wait_for, on] = folded.key();
    sums[{cgroup, wait_for, std::string(kOtherCgroup)}] += folded.mapped();
  }
}

}  // namespace

// Of those that are left out nothing is known: what of a wait is left would stand for all of it. So
// the rows of one thing that a cgroup waited for on one unit stay together.
void PeerHistory::keep_longest(std::vector<ChainWaits>& chains) {
  if (chains.size() <= kMostRows) return;
  using Waits = std::tuple<std::string, WaitFor, std::string>;
  const auto waits_of = [](const ChainWaits& row) {
    return Waits(row.cgroup, row.wait_for, row.on);
  };
  std::map<Waits, std::pair<double, std::size_t>> sums;  // time and rows
  for (const ChainWaits& row : chains) {
    auto& [ns, rows] = sums[waits_of(row)];
    ns += row.time.ns;
    ++rows;
  }
  std::vector<const decltype(sums)::value_type*> longest;
  longest.reserve(sums.size());
  for (const auto& sum : sums) longest.push_back(&sum);
  std::ranges::stable_sort(longest, std::ranges::greater(),
                           [](const auto* sum) { return sum->second.first; });
  std::size_t rows = 0;
  for (const auto* sum : longest) {
    rows += sum->second.second;
    if (rows > kMostRows) sums.erase(Waits(sum->first));
  }
  std::erase_if(chains, [&](const ChainWaits& row) { return !sums.contains(waits_of(row)); });
}

void PeerHistory::add(const WaitWindow& window, std::shared_ptr<const PastHolders> holders) {
  if (window.end_at <= window.begin_at) return;
  auto sums = sums_by_unit_waited_on(window);
  fold_shortest(sums, kMostRows);
  auto summed = std::make_shared<PeerWindow>();
  summed->begin = window.begin_at;
  summed->end = window.end_at;
  std::size_t bytes = sizeof(PeerWindow);
  for (auto& [key, time] : sums) {
    const auto& [cgroup, wait_for, on] = key;
    bytes += sizeof(PeerWindow::Row) + cgroup.size() + on.size();
    summed->rows.push_back(
        {.cgroup = cgroup, .wait_for = wait_for, .on = on, .time = time.time, .child = time.child});
  }
  summed->chains = window.chains;
  keep_longest(summed->chains);
  for (const ChainWaits& row : summed->chains) {
    bytes += sizeof(row) + row.cgroup.size() + row.on.size();
    for (const ChainWaits::Step& step : row.steps) bytes += sizeof(step) + step.on.size();
  }
  summed->released = window.released;
  for (const ReleasedWaits& row : summed->released) {
    bytes += sizeof(row) + row.cgroup.size() + row.site.size() + row.by.size();
  }
  if (holders) bytes += holders->bytes();
  summed->holders = std::move(holders);
  kept_.push_back({std::move(summed), bytes});
  bytes_ += bytes;
  std::size_t old = 0;
  while (old + 1 < kept_.size() &&
         (bytes_ > kMostBytes || window.end_at - kept_[old].window->begin > kAge)) {
    bytes_ -= kept_[old++].bytes;
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(old));
}

std::vector<std::shared_ptr<const PeerWindow>> PeerHistory::windows() const {
  std::vector<std::shared_ptr<const PeerWindow>> windows;
  windows.reserve(kept_.size());
  for (const Kept& kept : kept_) windows.push_back(kept.window);
  return windows;
}

std::vector<WaitedOnRow> waited_on(std::span<const std::shared_ptr<const PeerWindow>> windows,
                                   MonotonicTime since,
                                   const std::function<bool(std::string_view cgroup)>& is_chosen) {
  std::map<std::pair<WaitFor, std::string>, WaitTime> sums;
  for (const auto& window : windows) {
    if (window->end <= since) continue;
    for (const PeerWindow::Row& row : window->rows) {
      if (is_chosen(row.cgroup)) sums[{row.wait_for, row.on}] += row.time;
    }
  }
  std::vector<WaitedOnRow> rows;
  rows.reserve(sums.size());
  for (const auto& [key, time] : sums) {
    rows.push_back({.wait_for = key.first, .on = key.second, .time = time});
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const WaitedOnRow& row) { return row.time.ns; });
  return rows;
}

}  // namespace offcpud
