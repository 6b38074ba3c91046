// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/share_owner.h"

namespace offcpud {

// A table that takes up some of what is short: rows, pages, rules or files.
struct TableHolder {
  std::uint32_t object = 0;        // UnwindObjectId
  std::vector<ShareOwner> owners;  // users whose processes map it; of an unused one, who did first
  bool unused = false;
  std::uint64_t held = 0;
};

// Whose tables give way to a table for which there is no room, one after the other.
//
// What a user holds is all that his processes map, and a table is as dear as the user with the
// least among those who map it: so nobody's table goes because one who holds much maps it, too.
// Unused tables go first: those of the user who asks, and of those who hold more than he would;
// of others only what they have beyond an eighth of all. Then tables that are mapped, of users who
// hold more than the one who asks would. Among users it is the one with most; among unused tables
// that which was used least recently, among others the largest.
class TableVictims {
 public:
  // For a table of `wanted` that `owners` map or are about to. `capacity`: all there is. Of
  // holders, unused ones that were used least recently come first.
  TableVictims(std::vector<TableHolder> holders, const std::vector<ShareOwner>& owners,
               std::uint64_t wanted, std::uint64_t capacity);

  // Counts as given back when it was returned. Nothing: the one who asks goes without.
  std::optional<std::uint32_t> next();
  // The same, if it is an unused one of a user who asks.
  std::optional<std::uint32_t> next_of_own();

 private:
  [[nodiscard]] std::uint64_t least_of(const std::vector<ShareOwner>& owners) const;
  [[nodiscard]] bool gives(const TableHolder& holder) const;

  std::vector<TableHolder> holders_;  // in the order in which they are asked
  std::vector<ShareOwner> asking_;
  std::map<ShareOwner, std::uint64_t> held_;    // by user
  std::map<ShareOwner, std::uint64_t> unused_;  // of that, by tables that nobody maps
  std::uint64_t would_hold_;
  std::uint64_t capacity_;
  std::size_t next_ = 0;
};

}  // namespace offcpud
