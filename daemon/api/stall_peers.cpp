// SPDX-License-Identifier: Apache-2.0
#include "api/stall_peers.h"

namespace offcpud {
namespace {

bool is_same(const PeerWaits& one, const PeerWaits& other) {
  return one.on == other.on && one.peer_pid == other.peer_pid &&
         one.peer_start_ns == other.peer_start_ns;
}

}  // namespace

StallPeers::StallPeers(const View& view) {
  if (!view.waits) return;
  for (const PeerWaits& row : view.waits->peers) {
    if (row.time.ns <= 0) continue;
    const auto [known, is_new] = rows_.try_emplace({row.pid, row.wait_for}, &row);
    if (!is_new && known->second != nullptr && !is_same(*known->second, row)) {
      known->second = nullptr;
    }
  }
}

const PeerWaits* StallPeers::of(const Stall& stall) const {
  if (stall.ended || !stall.wait || stall.local_tgid == 0) return nullptr;
  const auto found = rows_.find({stall.local_tgid, stall.wait->wait_for});
  const PeerWaits* const row = found == rows_.end() ? nullptr : found->second;
  return row != nullptr && !row->on.starts_with('(') ? row : nullptr;
}

}  // namespace offcpud
