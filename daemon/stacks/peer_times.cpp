// SPDX-License-Identifier: Apache-2.0
#include "stacks/peer_times.h"

#include <algorithm>

namespace offcpud {
namespace {

// Twice, as the vector doubles its room.
constexpr std::size_t kBytes = 2 * sizeof(PeerTime);

}  // namespace

PeerTime& PeerTimes::of(const WaitPeer& peer, ByteBudget::Share& bytes) {
  const auto find = [this](const WaitPeer& one) {
    return std::ranges::find_if(times_,
                                [&](const PeerTime& each) { return each.peer.same_as(one); });
  };
  if (const auto known = find(peer); known != times_.end()) return *known;
  const WaitPeer others{.kind = WaitPeer::Kind::Others};
  const bool has_room = times_.size() < kMost && bytes.take(kBytes);
  if (has_room) {
    taken_ += kBytes;
    return times_.emplace_back(PeerTime{.peer = peer});
  }
  // These have one place more, which is too small to count.
  if (const auto known = find(others); known != times_.end()) return *known;
  return times_.emplace_back(PeerTime{.peer = others});
}

}  // namespace offcpud
