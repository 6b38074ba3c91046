// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/share_owner.h"

namespace offcpud {

// Processes that have mappings waiting to be put into the kernel's map. Users take turns. Of one
// user, the process with the fewest mappings left and the one that has waited longest are served
// alternately. So small processes need not wait for a large one, and the large one still gets in.
// Used by one thread.
class EntryTurns {
 public:
  struct Entry {
    std::uint32_t tgid = 0;
    std::size_t left = 0;     // mappings to put in, or an estimate of them
    std::uint64_t from = 0;   // mappings that begin below this address are in
    std::uint64_t order = 0;  // its place in the order of waiting; 0: behind all others
    ShareOwner user;
  };

  // Does nothing if the process waits already.
  void push(Entry entry);

  // Removes the next one. Nothing: none waits.
  std::optional<Entry> pop();

  // Lowers `from` of a process that waits.
  void lower(std::uint32_t tgid, std::uint64_t from);
  void erase(std::uint32_t tgid);

  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Waiting {
    std::set<std::pair<std::size_t, std::uint32_t>> by_size;
    std::map<std::uint64_t, std::uint32_t> by_order;  // the same processes; never empty
    std::uint64_t served = 0;                         // when the user was last served
    bool oldest_is_next = false;
  };

  std::unordered_map<std::uint32_t, Entry> entries_;  // by tgid
  std::unordered_map<ShareOwner, Waiting> users_;
  std::uint64_t last_ = 0;
};

}  // namespace offcpud
