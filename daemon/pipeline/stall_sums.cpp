// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_sums.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attribution/subject.h"
#include "pipeline/stall.h"
#include "pipeline/stall_peers.h"

namespace offcpud {
namespace {

SubjectSeries* row_of(View& view, std::string_view cgroup) {
  const auto row = std::ranges::lower_bound(
      view.subjects, cgroup, {}, [](const SubjectSeries& each) { return each.labels->cgroup; });
  return row != view.subjects.end() && row->labels->cgroup == cgroup ? &*row : nullptr;
}

SubjectSeries* row_or_other(View& view, std::string_view cgroup) {
  SubjectSeries* const row = row_of(view, cgroup);
  return row != nullptr ? row : row_of(view, kOtherCgroup);
}

constexpr std::size_t kMostOn = 10;  // of one cgroup, without those in parentheses

// How many threads wait for what and on whom.
using ThreadsOn = std::map<std::pair<WaitFor, std::string>, std::uint32_t>;

std::string name_of_cgroup(const std::string& path) {
  const SubjectLabels labels = labels_of_cgroup(path);
  return labels.unit.empty() ? path : labels.unit;
}

std::string on_of(const Stall& stall, const StallPeers& peers) {
  const HeldWait* const held = peers.held(stall);
  if (held != nullptr && !held->holder_cgroup.empty()) return name_of_cgroup(held->holder_cgroup);
  const PeerWaits* const peer = peers.of(stall);
  return peer != nullptr ? peer->on : std::string(kUnknownCgroup);
}

// Those on whom most threads wait; the rest is "(other)".
std::vector<StallsOn> most_of(ThreadsOn threads) {
  std::vector<ThreadsOn::iterator> named;
  for (auto each = threads.begin(); each != threads.end(); ++each) {
    if (!is_no_name(each->first.second)) named.push_back(each);
  }
  std::ranges::stable_sort(named, std::ranges::greater(), [](auto each) { return each->second; });
  for (std::size_t i = kMostOn; i < named.size(); ++i) {
    const auto folded = threads.extract(named[i]);
    threads[{folded.key().first, std::string(kOtherCgroup)}] += folded.mapped();
  }
  std::vector<StallsOn> rows;
  for (const auto& [key, count] : threads) rows.push_back({key.first, key.second, count});
  return rows;
}

void add(StallsInProgress& sum, WaitFor wait_for, std::uint32_t threads, std::uint64_t oldest_ns) {
  const auto place = static_cast<std::size_t>(wait_for);
  sum.shown |= 1U << place;
  sum.threads[place] += threads;
  sum.oldest_ns[place] = std::max(sum.oldest_ns[place], oldest_ns);
}

}  // namespace

void sum_stalls(View& view) {
  if (!view.stalls) return;
  const auto& stalls = view.stalls->stalls;
  const bool any_lasts = !stalls.empty() && !stalls.front()->ended;
  const StallPeers peers = any_lasts ? StallPeers(view) : StallPeers(nullptr);
  std::map<SubjectSeries*, StallsInProgress> sums;
  std::map<SubjectSeries*, ThreadsOn> on;
  for (const auto& stall : stalls) {
    SubjectSeries* const row = row_or_other(view, stall->labels->cgroup);
    if (row == nullptr) continue;
    const WaitFor wait_for = stall->wait ? stall->wait->wait_for : WaitFor::Unknown;
    const bool ended = stall->ended;
    add(sums[row], wait_for, ended ? 0 : 1, ended ? 0 : stall->duration_ns);
    if (!ended) ++on[row][{wait_for, on_of(*stall, peers)}];
  }
  for (const UnlistedStalls& each : view.stalls->unlisted) {
    SubjectSeries* const row = row_or_other(view, each.labels->cgroup);
    if (row == nullptr) continue;
    add(sums[row], each.wait_for, each.threads, each.oldest.ns);
    on[row][{each.wait_for, std::string(kUnknownCgroup)}] += each.threads;
  }
  for (auto& [row, sum] : sums) {
    sum.on = most_of(std::move(on[row]));
    row->stalls = std::make_shared<const StallsInProgress>(std::move(sum));
  }
}

void sum_deadlocks(View& view) {
  if (!view.deadlocks) return;
  for (const Deadlock& deadlock : *view.deadlocks) {
    for (const HeldWait& thread : deadlock) {
      if (SubjectSeries* const row = row_or_other(view, thread.cgroup)) ++row->deadlocked;
    }
  }
}

}  // namespace offcpud
