// SPDX-License-Identifier: Apache-2.0
#include "sampler/peer_sums.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "peers/peer_text.h"

namespace offcpud {
namespace {

// If there are more rows than `most`, applies `blur` to those behind the longest `most`, and adds
// up rows that are then equal.
template <class Blur>
void fold(std::vector<PeerWaits>& rows, std::size_t most, Blur blur) {
  if (rows.size() <= most) return;
  const auto length = [](const PeerWaits& row) { return std::max(row.time.ns, row.ended.ns); };
  std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(most),
                           std::ranges::greater(), length);
  std::map<std::tuple<std::uint32_t, std::uint64_t, WaitFor, std::string>, PeerWaits> sums;
  for (std::size_t i = most; i < rows.size(); ++i) {
    PeerWaits& row = rows[i];
    row.peer_pid = 0;
    row.peer_start_ns = 0;
    row.peer_comm.clear();
    blur(row);
    const auto [sum, is_new] =
        sums.try_emplace({row.pid, row.process_start_ns, row.wait_for, row.on}, row);
    if (is_new) continue;
    sum->second.ended += row.ended;
    sum->second.time += row.time;
    sum->second.child += row.child;
  }
  rows.resize(most);
  for (auto& [key, sum] : sums) rows.push_back(std::move(sum));
}

// Names are given up in the order of how much they tell: the process that was waited on, which may
// be a new one for each connection; who waited; on whom.
void fold(std::vector<PeerWaits>& rows) {
  fold(rows, PeerSums::kMostOfCgroup, [](PeerWaits& /*row*/) {});
  const auto forget_waiter = [](PeerWaits& row) {
    row.pid = 0;
    row.process_start_ns = 0;
  };
  fold(rows, PeerSums::kMostOfCgroup, forget_waiter);
  fold(rows, 2 * PeerSums::kMostOfCgroup, [&](PeerWaits& row) {
    forget_waiter(row);
    row.on = kOnOthers;
    row.peer_cgroup.clear();
  });
}

}  // namespace

void PeerSums::add(const WaitSum& sum, WaitFor wait_for, double share, const WaitPeer* otherwise) {
  const offcpud_sample& sample = sum.sample;
  const Waiter waiter{sample.local_tgid, sample.process_start_ns, sample.cgroup_id};
  for (const PeerTime& each : sum.peers.times()) {
    const bool is_unknown = each.peer.kind == WaitPeer::Kind::Unknown;
    PeerWaits& row =
        of(waiter, wait_for, is_unknown && otherwise != nullptr ? *otherwise : each.peer);
    row.ended += each.ended.part(share);
    row.time += each.within.part(share);
    if (sample.kind == OFFCPUD_BLOCKED_CHILD) row.child += each.within.part(share);
  }
}

void PeerSums::add(const SeenBlock& block, WaitFor wait_for, const LockHolder* holder) {
  if (block.going_on_ns == 0) return;
  const auto part_ns = static_cast<double>(block.going_on_ns);
  WaitPeer peer = block.peer;
  if (holder != nullptr) peer = holder->as_peer();
  PeerWaits& row = of({block.local_tgid, block.process_start_ns, block.cgroup_id}, wait_for, peer);
  row.time.add(part_ns, part_ns);
  if (block.kind == OFFCPUD_BLOCKED_CHILD) row.child.add(part_ns, part_ns);
}

void PeerSums::add_unknown_ended(std::uint64_t cgroup_id, const WaitTime& ended) {
  of_unknown(cgroup_id).ended += ended;
}

void PeerSums::add_unknown(std::uint64_t cgroup_id, const WaitTime& within) {
  of_unknown(cgroup_id).time += within;
}

PeerWaits& PeerSums::of_unknown(std::uint64_t cgroup_id) {
  return of({.cgroup_id = cgroup_id}, WaitFor::Unknown, {});
}

PeerWaits& PeerSums::of(const Waiter& waiter, WaitFor wait_for, const WaitPeer& peer) {
  const PeerProcess* const process = process_in(peer, wait_for);
  std::string on = names_.on(peer, wait_for);
  const std::uint32_t peer_tgid = process != nullptr ? process->tgid : 0;
  const std::uint64_t peer_start_ns = process != nullptr ? process->start_ns : 0;
  const std::string& cgroup = paths_.of(waiter.cgroup_id);
  const auto [row, is_new] = rows_[cgroup].try_emplace(
      {waiter.pid, waiter.start_ns, wait_for, on, peer_tgid, peer_start_ns});
  PeerWaits& waits = row->second;
  if (!is_new) return waits;
  waits.pid = waiter.pid;
  waits.process_start_ns = waiter.start_ns;
  waits.cgroup = cgroup;
  waits.wait_for = wait_for;
  waits.on = std::move(on);
  if (process == nullptr) return waits;
  waits.peer_pid = process->local_tgid;
  waits.peer_start_ns = process->start_ns;
  waits.peer_comm = comm_text(process->comm);
  waits.peer_cgroup = names_.unit_of(process->cgroup_id).cgroup;
  return waits;
}

std::vector<PeerWaits> PeerSums::take() && {
  std::vector<PeerWaits> all;
  for (auto& [cgroup, rows] : rows_) {
    std::vector<PeerWaits> of_cgroup;
    of_cgroup.reserve(rows.size());
    for (auto& [key, waits] : rows) of_cgroup.push_back(std::move(waits));
    fold(of_cgroup);
    std::ranges::move(of_cgroup, std::back_inserter(all));
  }
  return all;
}

}  // namespace offcpud
