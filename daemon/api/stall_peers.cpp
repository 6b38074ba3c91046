// SPDX-License-Identifier: Apache-2.0
#include "api/stall_peers.h"

#include <algorithm>

#include "attribution/subject.h"

namespace offcpud {
namespace {

bool is_same(const PeerWaits& one, const PeerWaits& other) {
  return one.on == other.on && one.peer_pid == other.peer_pid &&
         one.peer_start_ns == other.peer_start_ns;
}

}  // namespace

StallPeers::StallPeers(const View& view) : view_(view) {
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
  return of(stall.local_tgid, stall.wait->wait_for);
}

const PeerWaits* StallPeers::of(std::uint32_t pid, WaitFor wait_for) const {
  if (pid == 0) return nullptr;
  const auto found = rows_.find({pid, wait_for});
  const PeerWaits* const row = found == rows_.end() ? nullptr : found->second;
  return row != nullptr && !is_no_name(row->on) ? row : nullptr;
}

const HeldWait* StallPeers::held(const Stall& stall) const {
  if (stall.ended || !view_.waits) return nullptr;
  const HeldWait* const held = view_.waits->find_held(stall.tid);
  return held != nullptr && (stall.estimated || held->since_ns == stall.since_ns) ? held : nullptr;
}

bool StallPeers::is_deadlocked(const HeldWait& held) const {
  if (!view_.deadlocks) return false;
  return std::ranges::any_of(*view_.deadlocks, [&](const Deadlock& deadlock) {
    return std::ranges::find(deadlock, held.tid, &HeldWait::tid) != deadlock.end();
  });
}

}  // namespace offcpud
