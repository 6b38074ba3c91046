// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "base/wait_for.h"
#include "peers/wait_peer.h"

namespace offcpud {

struct ChainedBlock;

// What waits of a process that were sampled were for, and on whom: it tells the same of its other
// waits, which nobody saw but the thread itself. Immutable.
class WaitHabits {
 public:
  // Of those that are alike, so much of what they stand for must agree; and so many must be
  // sampled.
  static constexpr double kNearlyAll = 0.9;
  static constexpr std::size_t kLeastSamples = 3;

  struct Habit {
    WaitFor wait_for = WaitFor::Unknown;
    WaitPeer peer;
  };

  explicit WaitHabits(std::span<const ChainedBlock> blocks);

  // Of a wait of this process for this reason (offcpud_hist_kind), at whose end `ender`
  // (ender_of()) was current: what those have in common that ended in the same way, or else all.
  // Only in the first case the peer's thread is known.
  [[nodiscard]] Habit of(std::uint32_t tgid, std::uint32_t kind, std::uint32_t ender) const;

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Habit> by_ender_;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, Habit> by_kind_;
};

}  // namespace offcpud
