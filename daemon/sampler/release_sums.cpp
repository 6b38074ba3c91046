// SPDX-License-Identifier: Apache-2.0
#include "sampler/release_sums.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/text.h"

namespace offcpud {
namespace {

double released_ns(const std::vector<ReleasedWaits>& rows) {
  double ns = 0;
  for (const ReleasedWaits& row : rows) ns += row.ns;
  return ns;
}

// Of the threads beyond the first `most` makes one row.
void fold(std::vector<ReleasedWaits>& rows, std::size_t most) {
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const ReleasedWaits& row) {
    return std::pair(row.kind == ReleasedWaits::By::Nobody, row.ns);
  });
  if (rows.empty()) return;
  most += rows.front().kind == ReleasedWaits::By::Nobody ? 1 : 0;
  if (rows.size() <= most) return;
  ReleasedWaits others{
      .cgroup = rows.front().cgroup, .site = rows.front().site, .kind = ReleasedWaits::By::Others};
  for (std::size_t i = most; i < rows.size(); ++i) others.merge(rows[i]);
  rows.resize(most);
  rows.push_back(std::move(others));
}

}  // namespace

void ReleaseSums::add(const EndedBlock& block, std::uint64_t cgroup_id, const std::string& site) {
  if (block.since_ns == 0) return;
  const PeerProcess& by = block.by;
  const std::string& cgroup = paths_.of(cgroup_id);
  const auto [row, is_new] =
      places_[{cgroup, site}].try_emplace({by.tgid, by.start_ns, block.by_tid});
  ReleasedWaits& waits = row->second;
  waits.add(block.stands_for * static_cast<double>(block.ended_ns - block.since_ns));
  if (!is_new) return;
  waits.cgroup = cgroup;
  waits.site = site;
  if (by.tgid == 0) return;
  waits.kind = ReleasedWaits::By::Thread;
  waits.by = names_.unit_of(by.cgroup_id).name;
  waits.process = comm_text(by.comm);
  waits.thread = comm_text(block.by_thread);
  waits.pid = by.local_tgid;
  waits.process_start_ns = by.start_ns;
  // The number of a thread is known in the initial PID namespace only.
  if (by.local_tgid == by.tgid) waits.tid = block.by_tid;
}

std::vector<ReleasedWaits> ReleaseSums::take() && {
  std::vector<std::vector<ReleasedWaits>> places;
  for (auto& [place, threads] : places_) {
    std::vector<ReleasedWaits>& rows = places.emplace_back();
    for (auto& [thread, waits] : threads) rows.push_back(std::move(waits));
    fold(rows, kMostOfPlace);
  }
  std::ranges::stable_sort(places, std::ranges::greater(), released_ns);
  std::vector<ReleasedWaits> all;
  for (std::vector<ReleasedWaits>& rows : places) {
    if (all.size() + rows.size() > kMostOfAll) break;
    std::ranges::move(rows, std::back_inserter(all));
  }
  return all;
}

}  // namespace offcpud
