// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_sums.h"

#include <utility>

#include "base/text.h"
#include "waited.h"

namespace offcpud {
namespace {

// Of a block that began before the daemon did, since_ns only says when it was found.
WaitAge age_of(const SeenBlock& block) {
  const std::uint64_t since_ns = block.censored ? block.asleep_ns : block.since_ns;
  if (since_ns == 0 || since_ns > block.seen_ns) return {};
  return {.ns = block.seen_ns - since_ns, .estimated = block.censored};
}

// Whether one of the files that it waits for is a socket that has or may get a peer.
bool is_on_socket(const SeenBlock& block) {
  constexpr std::uint32_t kSockets = OFFCPUD_ON_LISTENER | OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_ASKED |
                                     OFFCPUD_ON_HEARD | OFFCPUD_ON_LINKED;
  return block.kind == OFFCPUD_BLOCKED_NETWORK || (block.waited_on & kSockets) != 0;
}

}  // namespace

void SiteSums::add(const WaitSum& sum, const ExaminedWait& wait, double share) {
  if (sum.within.ns <= 0) return;
  const offcpud_sample& sample = sum.sample;
  SiteWaits& waits = of({sample.local_tgid, sample.process_start_ns, sample.cgroup_id}, &wait);
  if (waits.comm.empty()) waits.comm = up_to_nul(sample.process_comm);
  const WaitTime part = sum.within.part(share);
  waits.time += part;
  if (sample.kind == OFFCPUD_BLOCKED_CHILD) waits.child += part;
}

void SiteSums::add(const SeenBlock& block, const ExaminedWait* wait, std::string_view comm) {
  if (block.going_on_ns == 0 && !block.lasts) return;
  SiteWaits& waits = of({block.local_tgid, block.process_start_ns, block.cgroup_id}, wait);
  if (waits.comm.empty()) waits.comm = comm;
  const auto part_ns = static_cast<double>(block.going_on_ns);
  waits.time.add(part_ns, part_ns);
  if (block.kind == OFFCPUD_BLOCKED_CHILD) waits.child.add(part_ns, part_ns);
  if (!block.lasts) return;
  ++waits.lasting;
  if (is_on_socket(block)) ++waits.on_sockets;
  waits.oldest.merge(age_of(block));
}

void SiteSums::add_unknown(std::uint64_t cgroup_id, const WaitTime& time) {
  of({.cgroup_id = cgroup_id}, nullptr).time += time;
}

std::vector<SiteWaits> SiteSums::take() && {
  std::vector<SiteWaits> sites;
  sites.reserve(sums_.size());
  for (auto& [key, waits] : sums_) sites.push_back(std::move(waits));
  return sites;
}

SiteWaits& SiteSums::of(const Process& process, const ExaminedWait* wait) {
  const WaitFor wait_for = wait != nullptr ? wait->wait_for : WaitFor::Unknown;
  const std::string site = wait != nullptr ? wait->site : std::string();
  const std::string& path = paths_.of(process.cgroup_id);
  const auto [found, is_new] =
      sums_.try_emplace({process.pid, process.start_ns, path, wait_for, site});
  if (is_new) {
    found->second.pid = process.pid;
    found->second.process_start_ns = process.start_ns;
    found->second.cgroup = path;
    found->second.wait_for = wait_for;
    found->second.site = site;
  }
  return found->second;
}

}  // namespace offcpud
