// SPDX-License-Identifier: Apache-2.0
#include "stacks/wait_habits.h"

#include <algorithm>
#include <vector>

#include "stacks/interval_chains.h"

namespace offcpud {
namespace {

// Further different ones only add to the weight, so that none of those kept may have enough of it.
constexpr std::size_t kMostDifferent = 16;

// Waits that are alike.
class Alike {
 public:
  void add(const ChainedBlock& block) {
    ++samples_;
    weight_ += block.stands_for;
    const auto same = std::ranges::find_if(seen_, [&](const Seen& seen) {
      return seen.habit.wait_for == block.wait_for && seen.habit.peer.same_as(block.peer);
    });
    if (same != seen_.end()) {
      same->weight += block.stands_for;
    } else if (seen_.size() < kMostDifferent) {
      seen_.push_back(
          {.habit = {.wait_for = block.wait_for, .peer = block.peer}, .weight = block.stands_for});
    }
  }

  // What they are for may be common where the peer is not: a server has many clients.
  [[nodiscard]] WaitHabits::Habit common() const {
    if (samples_ < WaitHabits::kLeastSamples) return {};
    const double enough = WaitHabits::kNearlyAll * weight_;
    std::map<WaitFor, double> purposes;
    for (const Seen& seen : seen_) {
      if (seen.weight >= enough) return seen.habit;
      purposes[seen.habit.wait_for] += seen.weight;
    }
    for (const auto& [wait_for, weight] : purposes) {
      if (weight >= enough) return {.wait_for = wait_for, .peer = {}};
    }
    return {};
  }

 private:
  struct Seen {
    WaitHabits::Habit habit;
    double weight = 0;
  };
  std::vector<Seen> seen_;
  std::size_t samples_ = 0;
  double weight_ = 0;
};

}  // namespace

WaitHabits::WaitHabits(std::span<const ChainedBlock> blocks) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Alike> by_ender;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, Alike> by_kind;
  for (const ChainedBlock& block : blocks) {
    by_ender[{block.tgid, block.kind, block.ender}].add(block);
    by_kind[{block.tgid, block.kind}].add(block);
  }
  for (const auto& [key, alike] : by_ender) by_ender_.emplace(key, alike.common());
  for (const auto& [key, alike] : by_kind) {
    Habit& habit = by_kind_.emplace(key, alike.common()).first->second;
    habit.peer.tid = 0;
  }
}

WaitHabits::Habit WaitHabits::of(std::uint32_t tgid, std::uint32_t kind,
                                 std::uint32_t ender) const {
  const auto same = by_ender_.find({tgid, kind, ender});
  if (same != by_ender_.end() && same->second.wait_for != WaitFor::Unknown) return same->second;
  const auto alike = by_kind_.find({tgid, kind});
  if (alike != by_kind_.end() && alike->second.wait_for != WaitFor::Unknown) return alike->second;
  // Where nothing was sampled: a sleep that an interrupt ended was over by itself.
  const bool by_interrupt = ender == 0 || (ender & OFFCPUD_PAST_INTERRUPT) != 0;
  const bool timed = kind == OFFCPUD_BLOCKED_SLEEP && by_interrupt;
  return {.wait_for = timed ? WaitFor::Timer : WaitFor::Unknown, .peer = {}};
}

}  // namespace offcpud
