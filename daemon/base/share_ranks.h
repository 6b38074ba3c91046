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

// Who holds how much of a room that is full: the largest process of the user who holds most is the
// one that gives way (docs/decisions/0015-shares-of-mappings.md). Takes logarithmic time, for rooms
// in which somebody gives way often. Not thread-safe.
class ShareRanks {
 public:
  // A process of this user held so much, and holds so much now. It may hold nothing.
  void change(const ShareOwner& owner, std::uint32_t tgid, std::size_t before, std::size_t now);

  // The process that must give way so that one of this user, which holds so much, gets one more.
  // Nothing: itself.
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
