// SPDX-License-Identifier: Apache-2.0
#include "unwind/table_victims.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace offcpud {
namespace {

constexpr std::uint64_t kUnusedShare = 8;  // an eighth

}  // namespace

TableVictims::TableVictims(std::vector<TableHolder> holders, const std::vector<ShareOwner>& owners,
                           std::uint64_t wanted, std::uint64_t capacity)
    : holders_(std::move(holders)), asking_(owners), capacity_(capacity) {
  for (const TableHolder& holder : holders_) {
    for (const ShareOwner& owner : holder.owners) {
      held_[owner] += holder.held;
      if (holder.unused) unused_[owner] += holder.held;
    }
  }
  would_hold_ = least_of(asking_) + wanted;
  std::vector<std::pair<std::uint64_t, std::size_t>> order;  // what its largest user holds
  for (std::size_t i = 0; i < holders_.size(); ++i)
    order.emplace_back(least_of(holders_[i].owners), i);
  std::ranges::stable_sort(order, [this](const auto& a, const auto& b) {
    const TableHolder &one = holders_[a.second], &other = holders_[b.second];
    if (one.unused != other.unused) return one.unused;
    if (a.first != b.first) return a.first > b.first;
    return !one.unused && one.held > other.held;
  });
  std::vector<TableHolder> sorted;
  sorted.reserve(holders_.size());
  for (const auto& [least, i] : order) sorted.push_back(std::move(holders_[i]));
  holders_ = std::move(sorted);
}

std::uint64_t TableVictims::least_of(const std::vector<ShareOwner>& owners) const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const ShareOwner& owner : owners) {
    const auto held = held_.find(owner);
    least = std::min(least, held == held_.end() ? 0 : held->second);
  }
  return least;
}

bool TableVictims::gives(const TableHolder& holder) const {
  if (least_of(holder.owners) > would_hold_) return true;
  if (!holder.unused) return false;
  const ShareOwner& owner = holder.owners.front();
  if (std::ranges::find(asking_, owner) != asking_.end()) return true;
  return unused_.at(owner) > capacity_ / kUnusedShare;
}

std::optional<std::uint32_t> TableVictims::next() {
  while (next_ < holders_.size()) {
    const TableHolder& holder = holders_[next_++];
    if (!gives(holder)) continue;
    for (const ShareOwner& owner : holder.owners) {
      held_[owner] -= holder.held;
      if (holder.unused) unused_[owner] -= holder.held;
    }
    return holder.object;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> TableVictims::next_of_own() {
  if (next_ == holders_.size()) return std::nullopt;
  const TableHolder& holder = holders_[next_];
  const bool is_own =
      holder.unused && std::ranges::find(asking_, holder.owners.front()) != asking_.end();
  return is_own ? next() : std::nullopt;
}

}  // namespace offcpud
