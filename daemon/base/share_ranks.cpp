// SPDX-License-Identifier: Apache-2.0
#include "base/share_ranks.h"

namespace offcpud {

void ShareRanks::change(const ShareOwner& owner, std::uint32_t tgid, std::size_t before,
                        std::size_t now) {
  if (before == now) return;
  const auto user = users_.try_emplace(owner).first;
  User& of = user->second;
  by_size_.erase({of.held, owner});
  of.processes.erase({before, tgid});
  of.held = of.held - before + now;
  if (now > 0) of.processes.emplace(now, tgid);
  if (of.held > 0) {
    by_size_.emplace(of.held, owner);
  } else {
    users_.erase(user);
  }
}

std::optional<std::uint32_t> ShareRanks::who_gives_way(const ShareOwner& owner,
                                                       std::size_t held) const {
  if (by_size_.empty()) return std::nullopt;
  const auto own = users_.find(owner);
  const std::size_t wants = 1 + (own == users_.end() ? 0 : own->second.held);
  const auto& [most, largest] = *by_size_.rbegin();
  if (largest != owner && most > wants) return users_.at(largest).processes.rbegin()->second;
  if (own == users_.end()) return std::nullopt;
  const auto& [of_process, tgid] = *own->second.processes.rbegin();
  return of_process > held + 1 ? std::optional(tgid) : std::nullopt;
}

}  // namespace offcpud
