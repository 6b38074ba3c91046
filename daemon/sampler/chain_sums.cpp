// SPDX-License-Identifier: Apache-2.0
#include "sampler/chain_sums.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>

namespace offcpud {
namespace {

// The rows behind the first `most` become one for each thing and whom they waited for.
void fold(std::vector<ChainWaits>& rows, std::size_t most) {
  if (rows.size() <= most) return;
  std::map<std::pair<WaitFor, std::string>, WaitTime> rest;
  for (std::size_t i = most; i < rows.size(); ++i) {
    rest[{rows[i].wait_for, rows[i].on}] += rows[i].time;
  }
  const std::string cgroup = rows.front().cgroup;
  rows.resize(most);
  for (const auto& [key, time] : rest) {
    ChainWaits& row = rows.emplace_back();
    row = {.cgroup = cgroup, .wait_for = key.first, .on = key.second, .steps = {}, .time = time};
  }
}

}  // namespace

// The pieces of one wait are in the sample together, so equal ones are one amount.
ChainSums::Rows ChainSums::divide(const ChainedBlock& wait, const std::string& on,
                                  const IntervalChains& chains, bool is_whole) {
  Rows rows;
  if (pieces_ >= kMostPieces) {
    const auto whole_ns = static_cast<double>(wait.ended_ns - wait.since_ns);
    rows[{wait.wait_for, on, {}, ChainWaits::End::Unknown, false}].time.ns = whole_ns;
    return rows;
  }
  chains.divide(wait, [&](const IntervalChains::Piece& piece) {
    ++pieces_;
    Path path;
    path.reserve(piece.steps.size());
    for (const ChainedBlock* step : piece.steps) {
      path.emplace_back(step->wait_for, names_.on(step->peer, step->wait_for));
    }
    const bool may_run = is_whole || piece.is_sure || piece.end != ChainEnd::Runs;
    const ChainEnd end = may_run ? piece.end : ChainEnd::Unknown;
    Sum& sum = rows[{wait.wait_for, on, std::move(path), end, piece.is_sure}];
    sum.time += {.ns = piece.ns, .variance_ns2 = piece.variance_ns2};
    if (piece.end != IntervalChains::End::Runs || piece.is_sure) return;
    const auto interval = intervals_.at(offcpud_sample_row(piece.tgid, 0) % intervals_.size());
    sum.watched_ns += piece.watched_ns;
    sum.interval_ns = std::max(sum.interval_ns, static_cast<double>(interval.count()));
  });
  return rows;
}

void ChainSums::add(Rows& rows, const Key& key, const Sum& of_wait, double stands_for) {
  auto row = rows.find(key);
  if (row == rows.end()) {
    const bool fits = rows.size() < kMostPaths && paths_in_all_ < kMostOfAll;
    const Key unknown{std::get<0>(key), std::get<1>(key), {}, ChainWaits::End::Unknown, false};
    const auto [added, is_new] = rows.try_emplace(fits ? key : unknown);
    row = added;
    if (is_new) ++paths_in_all_;
  }
  Sum& sum = row->second;
  const double ns = of_wait.time.ns;
  sum.time.ns += stands_for * ns;
  sum.time.variance_ns2 +=
      stands_for * (stands_for - 1) * ns * ns + stands_for * stands_for * of_wait.time.variance_ns2;
  sum.watched_ns += of_wait.watched_ns;
  sum.interval_ns = std::max(sum.interval_ns, of_wait.interval_ns);
}

void ChainSums::add(std::span<const ChainedBlock> waits, std::uint64_t begin_ns,
                    const IntervalChains& chains, bool is_whole) {
  for (const ChainedBlock& each : waits) {
    if (each.kind == OFFCPUD_BLOCKED_CHILD) continue;
    if (!actionable(each.wait_for) || each.peer.kind != WaitPeer::Kind::Process ||
        each.peer.tid == 0 || each.since_ns == 0 || each.ended_ns <= begin_ns) {
      continue;
    }
    ChainedBlock wait = each;
    wait.since_ns = std::max(wait.since_ns, begin_ns);
    const std::string on = names_.on(wait.peer, wait.wait_for);
    Rows& rows = rows_[paths_.of(wait.cgroup_id)];
    for (const auto& [key, sum] : divide(wait, on, chains, is_whole)) {
      add(rows, key, sum, wait.stands_for);
    }
  }
}

// A thread that was watched for a time has had blocks shorter than its sampling interval T in it,
// of which one for each T in all is in the sample on average. So what it is said to run may be as
// much as one T of the watched time less, but not less than nothing; and where that is most of it,
// nobody knows. What its own account says needs no watching.
void ChainSums::add_unseen(Rows& rows) {
  std::vector<Key> unsure;
  for (auto& [key, sum] : rows) {
    if (std::get<3>(key) != ChainWaits::End::Runs || sum.watched_ns <= 0) continue;
    const double unseen = std::abs(sum.time.ns) * std::min(1.0, sum.interval_ns / sum.watched_ns);
    sum.time.variance_ns2 += unseen * unseen;
    if (sum.watched_ns < kLeastWatched * sum.interval_ns) unsure.push_back(key);
  }
  for (Key& key : unsure) {
    auto row = rows.extract(key);
    std::get<3>(key) = ChainWaits::End::Unknown;
    rows[key].time += row.mapped().time;
  }
}

std::vector<ChainWaits> ChainSums::take() && {
  std::vector<ChainWaits> all;
  for (auto& [cgroup, rows] : rows_) {
    add_unseen(rows);
    std::vector<ChainWaits> of_cgroup;
    std::map<std::tuple<WaitFor, std::string, Path, ChainWaits::End>, WaitTime> sums;
    for (auto& [key, sum] : rows) {
      const auto& [wait_for, on, path, end, is_sure] = key;
      sums[{wait_for, on, path, end}] += sum.time;
    }
    for (const auto& [key, time] : sums) {
      const auto& [wait_for, on, path, end] = key;
      ChainWaits& row = of_cgroup.emplace_back();
      row = {
          .cgroup = cgroup, .wait_for = wait_for, .on = on, .steps = {}, .end = end, .time = time};
      for (const auto& [step_for, step_on] : path) row.steps.push_back({step_for, step_on});
    }
    std::ranges::stable_sort(of_cgroup, std::ranges::greater(),
                             [](const ChainWaits& row) { return row.time.ns; });
    fold(of_cgroup, kMostOfCgroup);
    std::ranges::move(of_cgroup, std::back_inserter(all));
  }
  return all;
}

}  // namespace offcpud
