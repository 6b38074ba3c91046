// SPDX-License-Identifier: Apache-2.0
#include "pipeline/untold_shares.h"

#include <algorithm>

#include "base/clock.h"

namespace offcpud {
namespace {

// All records have one time, so that a process that must give way keeps what it has: replacing
// records at every walk would show each block only for a moment.
constexpr MonotonicTime kAlways{};

}  // namespace

std::optional<StallId> UntoldShares::who_gives_way(std::uint64_t cgroup_id,
                                                   std::uint32_t tgid) const {
  const auto cgroup = cgroups_.find(cgroup_id);
  const ShareOwner owner =
      cgroup == cgroups_.end() ? ShareOwner() : ShareOwner(cgroup->second.number);
  const auto gone = slots_.who_gives_way(tgid, owner, kAlways);
  return gone ? std::optional(by_slot_[*gone]) : std::nullopt;
}

void UntoldShares::hold(const StallId& id, std::uint64_t cgroup_id, std::uint32_t tgid) {
  const auto [cgroup, is_new] = cgroups_.try_emplace(cgroup_id);
  if (is_new) cgroup->second.number = ++last_number_;
  ++cgroup->second.held;
  const ShareSlots::Slot slot = slots_.take(tgid, cgroup->second.number, kAlways);
  by_slot_.resize(std::max<std::size_t>(by_slot_.size(), slot + 1));
  by_slot_[slot] = id;
  held_.emplace(id, Held{.slot = slot, .cgroup_id = cgroup_id});
}

void UntoldShares::give_back(const StallId& id) {
  const auto held = held_.find(id);
  const auto cgroup = cgroups_.find(held->second.cgroup_id);
  if (--cgroup->second.held == 0) cgroups_.erase(cgroup);
  slots_.give_back(held->second.slot);
  held_.erase(held);
}

}  // namespace offcpud
