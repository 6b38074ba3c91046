// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/share_owner.h"

namespace offcpud {

// Objects for which something has to be tried again, each once, by the user for whom it is; or
// processes, where it is done for one of them. Users take turns, and of one user's objects
// whichever has waited longest is next, so that neither many of them nor those that fail again
// delay another user's. Used by one thread.
class ObjectTurns {
 public:
  struct Turn {
    std::uint64_t object = 0;  // MappedObject::id, or a tgid
    ShareOwner user;
  };

  // To the end of the user's, unless it waits already.
  void push(std::uint64_t object, const ShareOwner& user);

  // Of a user for whom `may` is true. Nothing: none of them waits.
  using May = std::function<bool(const ShareOwner& user)>;
  std::optional<Turn> pop(const May& may);

  void erase(std::uint64_t object);

  [[nodiscard]] std::size_t size() const { return places_.size(); }

 private:
  struct Place {
    ShareOwner user;
    std::uint64_t turn = 0;
  };
  struct Waiting {
    std::map<std::uint64_t, std::uint64_t> objects;  // by turn; never empty
    std::uint64_t served = 0;                        // the turn at which it was this user's
  };

  std::unordered_map<std::uint64_t, Place> places_;  // by object
  std::unordered_map<ShareOwner, Waiting> users_;
  std::uint64_t last_turn_ = 0;
};

}  // namespace offcpud
