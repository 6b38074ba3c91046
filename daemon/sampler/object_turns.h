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

// A queue of objects (or processes) to retry, each once, with the user it is for. Users take turns,
// and within a user the longest waiting is next. So neither a user with many objects nor objects
// that keep failing delay another user's. Used by one thread.
class ObjectTurns {
 public:
  struct Turn {
    std::uint64_t object = 0;  // MappedObject::id, or a tgid
    ShareOwner user;
  };

  // Appends to the user's queue. False, and no-op: it is queued.
  bool push(std::uint64_t object, const ShareOwner& user);

  // The next of a user for whom `may` is true. Nothing: none.
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
    std::uint64_t served = 0;                        // the user's last turn
  };

  std::unordered_map<std::uint64_t, Place> places_;  // by object
  std::unordered_map<ShareOwner, Waiting> users_;
  std::uint64_t last_turn_ = 0;
};

}  // namespace offcpud
