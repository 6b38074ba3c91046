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

// What the sampled waits of each process were for, and on whom they were. It stands for the waits
// that were not sampled and that only the thread itself remembers (PastBlock). Immutable.
class WaitHabits {
 public:
  // Sampled waits have a habit if there are at least kLeastSamples of them, and waits with
  // kNearlyAll of the weight agree.
  static constexpr double kNearlyAll = 0.9;
  static constexpr std::size_t kLeastSamples = 3;

  struct Habit {
    WaitFor wait_for = WaitFor::Unknown;
    WaitPeer peer;
  };

  explicit WaitHabits(std::span<const ChainedBlock> blocks);

  // What a wait of this process was for if it had this reason (offcpud_hist_kind) and `ender`
  // (ender_of()) was current at its end. The habit is that of the process's sampled waits for this
  // reason with the same `ender` or, if these have none, of all its sampled waits for this reason.
  // Only in the first case the peer's thread is known. Without a habit, a sleep that an interrupt
  // ended was for a timer.
  [[nodiscard]] Habit of(std::uint32_t tgid, std::uint32_t kind, std::uint32_t ender) const;

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Habit> by_ender_;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, Habit> by_kind_;
};

}  // namespace offcpud
