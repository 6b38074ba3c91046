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

// A queue of objects (or processes) to retry, each at most once, on behalf of a user. Users are
// served in turn, and within a user the one waiting longest is next. So neither a user with many
// objects nor objects that keep failing delay those of other users. Used by one thread.
class ObjectTurns {
 public:
  struct Turn {
    std::uint64_t object = 0;  // MappedObject::id, or a tgid
    ShareOwner user;
  };

  // Appends to the user's queue. False, and does nothing, if it is queued already.
  bool push(std::uint64_t object, const ShareOwner& user);

  // Removes the next one of a user for whom `may` is true. Nothing: there is none.
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
    std::map<std::uint64_t, std::uint64_t> objects;  // in order of waiting; never empty
    std::uint64_t served = 0;                        // when the user was last served
  };

  std::unordered_map<std::uint64_t, Place> places_;  // by object
  std::unordered_map<ShareOwner, Waiting> users_;
  std::uint64_t last_turn_ = 0;
};

}  // namespace offcpud
