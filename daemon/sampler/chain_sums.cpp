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
void fold(std::vector<ChainWaits>& rows, const ChainWaits& whose, std::size_t most) {
  if (rows.size() <= most) return;
  std::map<std::pair<WaitFor, std::string>, WaitTime> rest;
  for (std::size_t i = most; i < rows.size(); ++i) {
    rest[{rows[i].wait_for, rows[i].on}] += rows[i].time;
  }
  rows.resize(most);
  for (const auto& [key, time] : rest) {
    ChainWaits& row = rows.emplace_back(whose);
    row.wait_for = key.first;
    row.on = key.second;
    row.time = time;
  }
}

double waited_ns(const std::vector<ChainWaits>& rows) {
  double ns = 0;
  for (const ChainWaits& row : rows) ns += row.time.ns;
  return ns;
}

}  // namespace

ChainedBlock chained(const EndedBlock& block, const offcpud_sample& sample, WaitFor wait_for) {
  return {.tid = block.tid,
          .tgid = block.tgid,
          .local_tgid = sample.local_tgid,
          .process_start_ns = sample.process_start_ns,
          .since_ns = block.since_ns,
          .ended_ns = block.ended_ns,
          .stands_for = block.stands_for,
          .wait_for = wait_for,
          .kind = sample.kind,
          .cgroup_id = sample.cgroup_id,
          .peer = block.peer,
          .ender = block.ender,
          .past = block.past};
}

// The pieces of one wait are sampled together, so equal ones are one amount.
ChainSums::Rows ChainSums::divide(const ChainedBlock& wait, std::uint64_t from_ns,
                                  const std::string& on, const IntervalChains& chains,
                                  bool is_whole) {
  Rows rows;
  if (pieces_ >= kMostPieces) {
    const auto whole_ns = static_cast<double>(wait.ended_ns - from_ns);
    rows[{wait.wait_for, on, {}, ChainWaits::End::Unknown, {}}].time.ns = whole_ns;
    return rows;
  }
  chains.divide(wait, from_ns, [&](const IntervalChains::Piece& piece) {
    ++pieces_;
    Path path;
    path.reserve(piece.steps.size());
    for (const ChainedBlock* step : piece.steps) {
      path.emplace_back(step->wait_for, names_.on(step->peer, step->wait_for));
    }
    const bool may_run = is_whole || piece.end != ChainEnd::Runs;
    const ChainEnd end = may_run ? piece.end : ChainEnd::Unknown;
    Sum& sum = rows[{wait.wait_for, on, std::move(path), end, piece.busy_after}];
    sum.time += {.ns = piece.ns, .variance_ns2 = piece.variance_ns2};
    if (piece.end != ChainEnd::Runs) return;
    const auto interval = intervals_.at(offcpud_sample_row(piece.tgid, 0) % intervals_.size());
    sum.watched_ns += piece.watched_ns;
    sum.interval_ns = std::max(sum.interval_ns, static_cast<double>(interval.count()));
  });
  return rows;
}

std::size_t ChainSums::add_path(Rows& rows, std::size_t in_all, const Key& key, const Sum& of_wait,
                                double stands_for) {
  const std::size_t before = rows.size();
  auto row = rows.find(key);
  if (row == rows.end()) {
    const bool fits = before < kMostPaths && in_all < kMostOfAll;
    const Key unknown{std::get<0>(key), std::get<1>(key), {}, ChainWaits::End::Unknown, {}};
    row = rows.try_emplace(fits ? key : unknown).first;
  }
  Sum& sum = row->second;
  const double ns = of_wait.time.ns;
  sum.time.ns += stands_for * ns;
  sum.time.variance_ns2 +=
      stands_for * (stands_for - 1) * ns * ns + stands_for * stands_for * of_wait.time.variance_ns2;
  sum.watched_ns += of_wait.watched_ns;
  sum.interval_ns = std::max(sum.interval_ns, of_wait.interval_ns);
  return rows.size() - before;
}

void ChainSums::add(std::span<const ChainedBlock> waits, std::uint64_t begin_ns,
                    const IntervalChains& chains, bool is_whole) {
  for (const ChainedBlock& wait : waits) {
    if (wait.kind == OFFCPUD_BLOCKED_CHILD) continue;
    if (!actionable(wait.wait_for) || wait.peer.kind != WaitPeer::Kind::Process ||
        wait.peer.tid == 0 || wait.since_ns == 0 || wait.ended_ns <= begin_ns) {
      continue;
    }
    const std::string on = names_.on(wait.peer, wait.wait_for);
    const Rows pieces = divide(wait, std::max(wait.since_ns, begin_ns), on, chains, is_whole);
    cgroups_.add(paths_.of(wait.cgroup_id), pieces, wait.stands_for);
    if (wait.local_tgid == 0) continue;  // nobody can ask for it
    processes_.add({wait.local_tgid, wait.process_start_ns}, pieces, wait.stands_for);
  }
}

// A watched thread may have had blocks shorter than its sampling interval T. On average, one is
// sampled for each T of their time. So up to one T of the watched time may have been such blocks in
// place of running, which is added to the error; and a thread that was not watched for
// kLeastWatched * T is not said to run. What its own account says needs no watching.
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

// `whose`: a row with no more than the cgroup or process. The longest row comes first.
std::vector<ChainWaits> ChainSums::rows_of(Rows& sums, const ChainWaits& whose, std::size_t most) {
  add_unseen(sums);
  std::vector<ChainWaits> rows;
  for (const auto& [key, sum] : sums) {
    const auto& [wait_for, on, path, end, busy_after] = key;
    ChainWaits& row = rows.emplace_back(whose);
    row.wait_for = wait_for;
    row.on = on;
    for (const auto& [step_for, step_on] : path) row.steps.push_back({step_for, step_on});
    row.end = end;
    row.busy_after = busy_after;
    row.time = sum.time;
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const ChainWaits& row) { return row.time.ns; });
  fold(rows, whose, most);
  return rows;
}

// What is left of a process would stand for all of it, so its rows stay together.
void ChainSums::take_processes(Chains& into) {
  std::vector<std::vector<ChainWaits>> all;
  for (auto& [process, sums] : processes_.rows) {
    ChainWaits whose;
    whose.pid = process.first;
    whose.process_start_ns = process.second;
    all.push_back(rows_of(sums, whose, kMostOfProcess));
  }
  std::ranges::stable_sort(all, std::ranges::greater(), waited_ns);
  for (std::vector<ChainWaits>& rows : all) {
    if (into.of_processes.size() + rows.size() > kMostOfProcesses) {
      ++into.processes_left_out;
      continue;
    }
    std::ranges::move(rows, std::back_inserter(into.of_processes));
  }
}

ChainSums::Chains ChainSums::take() && {
  Chains all;
  for (auto& [cgroup, sums] : cgroups_.rows) {
    ChainWaits whose;
    whose.cgroup = cgroup;
    std::ranges::move(rows_of(sums, whose, kMostOfCgroup), std::back_inserter(all.of_cgroups));
  }
  take_processes(all);
  return all;
}

}  // namespace offcpud
