// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_peers.h"

#include "attribution/subject.h"

namespace offcpud {
namespace {

bool is_same(const PeerWaits& one, const PeerWaits& other) {
  return one.on == other.on && one.peer_pid == other.peer_pid &&
         one.peer_start_ns == other.peer_start_ns;
}

}  // namespace

StallPeers::StallPeers(std::shared_ptr<const WaitWindow> waits,
                       const std::vector<Deadlock>* deadlocks)
    : waits_(std::move(waits)) {
  if (deadlocks != nullptr) {
    for (const Deadlock& deadlock : *deadlocks) {
      for (const HeldWait& wait : deadlock) deadlocked_.insert(wait.tid);
    }
  }
  if (!waits_) return;
  for (const PeerWaits& row : waits_->peers) {
    if (row.time.ns <= 0) continue;
    const auto [known, is_new] = rows_.try_emplace({row.pid, row.wait_for}, &row);
    if (!is_new && known->second != nullptr && !is_same(*known->second, row)) {
      known->second = nullptr;
    }
  }
}

const PeerWaits* StallPeers::of(const Stall& stall) const {
  if (stall.ended) return stall.was_on.get();
  return stall.wait ? of(stall.local_tgid, stall.wait->wait_for) : nullptr;
}

const PeerWaits* StallPeers::of(std::uint32_t pid, WaitFor wait_for) const {
  if (pid == 0) return nullptr;
  const auto found = rows_.find({pid, wait_for});
  const PeerWaits* const row = found == rows_.end() ? nullptr : found->second;
  return row != nullptr && !is_no_name(row->on) ? row : nullptr;
}

const HeldWait* StallPeers::held(const Stall& stall) const {
  if (stall.ended) return stall.was_held.get();
  const HeldWait* const held = waits_ ? waits_->find_held(stall.tid) : nullptr;
  return held != nullptr && (stall.estimated || held->since_ns == stall.since_ns) ? held : nullptr;
}

bool StallPeers::is_deadlocked(const Stall& stall) const {
  if (stall.ended) return stall.was_deadlocked;
  const HeldWait* const now = held(stall);
  return now != nullptr && is_deadlocked(*now);
}

void StallPeers::note_in(Stall& stall) const {
  if (!waits_ || !waits_->find(stall.tid, stall.since_ns, stall.estimated)) return;
  if (const HeldWait* const now = held(stall)) {
    stall.was_held = std::make_shared<const HeldWait>(*now);
    stall.was_deadlocked = is_deadlocked(*now);
  }
  if (const PeerWaits* const on = of(stall)) stall.was_on = std::make_shared<const PeerWaits>(*on);
}

}  // namespace offcpud
