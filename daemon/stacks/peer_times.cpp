// SPDX-License-Identifier: Apache-2.0
#include "stacks/peer_times.h"

#include <algorithm>

namespace offcpud {
namespace {

// Twice, as the vector doubles its room.
constexpr std::size_t kBytes = 2 * sizeof(PeerTime);

}  // namespace

PeerTime* PeerTimes::find(const WaitPeer& peer) {
  const auto known =
      std::ranges::find_if(times_, [&](const PeerTime& each) { return each.peer.same_as(peer); });
  return known == times_.end() ? nullptr : &*known;
}

PeerTime* PeerTimes::find_or_add(const WaitPeer& peer, std::size_t most, ByteBudget::Share& bytes) {
  if (PeerTime* const known = find(peer)) return known;
  if (times_.size() >= most || !bytes.take(kBytes)) return nullptr;
  taken_ += kBytes;
  return &times_.emplace_back(PeerTime{.peer = peer});
}

PeerTime& PeerTimes::of(const WaitPeer& peer, ByteBudget::Share& bytes) {
  if (PeerTime* const one = find_or_add(peer, kMost, bytes)) return *one;
  if (peer.process.tgid != 0) {
    WaitPeer any = peer;
    any.process = {.cgroup_id = peer.process.cgroup_id};
    any.tid = 0;
    if (PeerTime* const one = find_or_add(any, 2 * kMost, bytes)) return *one;
  }
  const WaitPeer others{.kind = WaitPeer::Kind::Others};
  if (PeerTime* const known = find(others)) return *known;
  // These have one place more, which is too small to count.
  return times_.emplace_back(PeerTime{.peer = others});
}

}  // namespace offcpud
