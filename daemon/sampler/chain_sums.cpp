// SPDX-License-Identifier: Apache-2.0
#include "sampler/chain_sums.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace offcpud {
namespace {

ChainWaits::End end_of(IntervalChains::End end, bool is_whole) {
  switch (end) {
    case IntervalChains::End::Runs:
      return is_whole ? ChainWaits::End::Runs : ChainWaits::End::Unknown;
    case IntervalChains::End::Waits:
      return ChainWaits::End::Waits;
    case IntervalChains::End::Idle:
      return ChainWaits::End::Idle;
    case IntervalChains::End::Unknown:
      break;
  }
  return ChainWaits::End::Unknown;
}

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

void ChainSums::add(std::span<const ChainedBlock> waits, const IntervalChains& chains,
                    bool is_whole) {
  for (const ChainedBlock& wait : waits) {
    if (!actionable(wait.wait_for) || wait.peer.kind != WaitPeer::Kind::Process ||
        wait.peer.tid == 0) {
      continue;
    }
    const std::string on = names_.on(wait.peer, wait.wait_for);
    auto& rows = rows_[paths_.of(wait.cgroup_id)];
    chains.divide(wait, [&](const IntervalChains::Piece& piece) {
      Path path;
      path.reserve(piece.steps.size());
      for (const ChainedBlock* step : piece.steps) {
        path.emplace_back(step->wait_for, names_.on(step->peer, step->wait_for));
      }
      WaitTime& time = rows[{wait.wait_for, on, std::move(path), end_of(piece.end, is_whole)}];
      const double like_it = wait.stands_for;
      time.ns += like_it * piece.ns;
      time.variance_ns2 +=
          like_it * (like_it - 1) * piece.ns * piece.ns + like_it * like_it * piece.variance_ns2;
    });
  }
}

std::vector<ChainWaits> ChainSums::take() && {
  std::vector<ChainWaits> all;
  for (auto& [cgroup, rows] : rows_) {
    std::vector<ChainWaits> of_cgroup;
    for (auto& [key, time] : rows) {
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
