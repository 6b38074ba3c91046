// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/wait_for.h"
#include "peers/wait_peer.h"

namespace offcpud {

struct ChainedBlock;

// What waits of a process that were sampled were for, and on whom: it tells the same of its other
// waits, which nobody saw but the thread itself. Immutable.
class WaitHabits {
 public:
  // At least so many of those that are alike must agree.
  static constexpr double kNearlyAll = 0.9;

  struct Habit {
    WaitFor wait_for = WaitFor::Unknown;
    WaitPeer peer;
  };

  explicit WaitHabits(std::span<const ChainedBlock> blocks);

  // Of a wait of this process for this reason (offcpud_hist_kind), at whose end the thread `ender`
  // was current (0: none): what those have in common that the same thread ended, or else all. Only
  // in the first case the peer's thread is known.
  [[nodiscard]] Habit of(std::uint32_t tgid, std::uint32_t kind, std::uint32_t ender) const;

 private:
  struct Seen {
    Habit habit;
    std::size_t times = 0;
  };
  class Kinds {
   public:
    void add(const ChainedBlock& block);
    [[nodiscard]] Habit common() const;

   private:
    std::vector<Seen> seen_;
    std::size_t times_ = 0;
  };

  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Kinds> by_ender_;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, Kinds> by_kind_;
};

}  // namespace offcpud
