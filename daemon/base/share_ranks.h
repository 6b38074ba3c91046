// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/share_owner.h"

namespace offcpud {

// Ranks users and processes by how much of a full table they hold. The largest process of the user
// who holds most gives way (docs/decisions/0015-shares-of-mappings.md). Every call takes
// logarithmic time. Not thread-safe.
class ShareRanks {
 public:
  // Call it when what a process of this user holds changes; `before` or `now` may be 0.
  void change(const ShareOwner& owner, std::uint32_t tgid, std::size_t before, std::size_t now);

  // The process that must give way so that a process of this user, which holds `held`, gets one
  // more. nullopt: that process itself must.
  [[nodiscard]] std::optional<std::uint32_t> who_gives_way(const ShareOwner& owner,
                                                           std::size_t held) const;

 private:
  struct User {
    std::size_t held = 0;
    std::set<std::pair<std::size_t, std::uint32_t>> processes;  // by size
  };
  std::map<ShareOwner, User> users_;
  std::set<std::pair<std::size_t, ShareOwner>> by_size_;
};

}  // namespace offcpud
