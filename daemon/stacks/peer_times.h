// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/wait_time.h"
#include "peers/wait_peer.h"
#include "stacks/byte_budget.h"

namespace offcpud {

// The blocks of a sum that waited on the same peer.
struct PeerTime {
  WaitPeer peer;
  WaitTime ended{};   // of blocks that ended, whole
  WaitTime within{};  // of these, the part within the window
};

// The time of one sum, by whom or what its blocks waited on. A value type.
class PeerTimes {
 public:
  // Beyond these, processes are told apart by cgroup only, in as many entries again, because a
  // server may have a new process for each connection. Whatever is left, or finds no bytes, is in
  // one entry.
  static constexpr std::size_t kMost = 64;

  // The time of this peer. The room for a new one is taken from `bytes`.
  PeerTime& of(const WaitPeer& peer, ByteBudget::Share& bytes);

  // Each peer once. One entry may stand for all peers that had no room.
  [[nodiscard]] const std::vector<PeerTime>& times() const { return times_; }
  // The bytes that it has taken.
  [[nodiscard]] std::size_t bytes() const { return taken_; }

 private:
  PeerTime* find(const WaitPeer& peer);
  PeerTime* find_or_add(const WaitPeer& peer, std::size_t most, ByteBudget::Share& bytes);

  std::vector<PeerTime> times_;
  std::size_t taken_ = 0;
};

}  // namespace offcpud
