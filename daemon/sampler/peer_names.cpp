// SPDX-License-Identifier: Apache-2.0
#include "sampler/peer_names.h"

#include "attribution/subject.h"
#include "peers/peer_text.h"

namespace offcpud {

const PeerNames::Unit& PeerNames::unit_of(std::uint64_t cgroup_id) {
  const auto [found, is_new] = units_.try_emplace(cgroup_id);
  if (is_new) {
    found->second.cgroup = paths_.of(cgroup_id);
    const SubjectLabels labels = labels_of_cgroup(found->second.cgroup);
    found->second.name = labels.unit.empty() ? labels.cgroup : labels.unit;
  }
  return found->second;
}

std::string PeerNames::on(const WaitPeer& peer, WaitFor wait_for) {
  const PeerProcess* const process = process_in(peer, wait_for);
  return process != nullptr ? unit_of(process->cgroup_id).name : on_text(peer, wait_for, devices_);
}

}  // namespace offcpud
