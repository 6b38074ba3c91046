// SPDX-License-Identifier: Apache-2.0
#include "stacks/wait_habits.h"

#include <algorithm>
#include <map>

#include "stacks/interval_chains.h"

namespace offcpud {
namespace {

// Of so many different ones, what they have in common is not looked for.
constexpr std::size_t kMostDifferent = 16;

}  // namespace

void WaitHabits::Kinds::add(const ChainedBlock& block) {
  ++times_;
  const auto alike = std::ranges::find_if(seen_, [&](const Seen& seen) {
    return seen.habit.wait_for == block.wait_for && seen.habit.peer.same_as(block.peer);
  });
  if (alike != seen_.end()) {
    ++alike->times;
  } else if (seen_.size() < kMostDifferent) {
    seen_.push_back({.habit = {.wait_for = block.wait_for, .peer = block.peer}, .times = 1});
  }
}

// What it is for may be common where the peer is not: a server has many clients.
WaitHabits::Habit WaitHabits::Kinds::common() const {
  const double enough = kNearlyAll * static_cast<double>(times_);
  std::map<WaitFor, std::size_t> purposes;
  for (const Seen& seen : seen_) {
    if (static_cast<double>(seen.times) >= enough) return seen.habit;
    purposes[seen.habit.wait_for] += seen.times;
  }
  for (const auto& [wait_for, times] : purposes) {
    if (static_cast<double>(times) >= enough) return {.wait_for = wait_for, .peer = {}};
  }
  return {};
}

WaitHabits::WaitHabits(std::span<const ChainedBlock> blocks) {
  for (const ChainedBlock& block : blocks) {
    by_ender_[{block.tgid, block.kind, block.peer.tid}].add(block);
    by_kind_[{block.tgid, block.kind}].add(block);
  }
}

WaitHabits::Habit WaitHabits::of(std::uint32_t tgid, std::uint32_t kind,
                                 std::uint32_t ender) const {
  if (const auto same = by_ender_.find({tgid, kind, ender}); same != by_ender_.end()) {
    return same->second.common();
  }
  const auto alike = by_kind_.find({tgid, kind});
  if (alike == by_kind_.end()) return {};
  Habit habit = alike->second.common();
  habit.peer.tid = 0;
  return habit;
}

}  // namespace offcpud
