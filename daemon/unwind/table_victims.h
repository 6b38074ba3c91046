// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/share_owner.h"

namespace offcpud {

// A table that takes some of what is short: rows, pages, rules or files.
struct TableHolder {
  std::uint32_t object = 0;        // UnwindObjectId
  std::vector<ShareOwner> owners;  // users whose processes map it; if unused, its first user
  bool unused = false;
  std::uint64_t held = 0;
};

// Picks, one by one, the tables that give way to a table without room.
//
// A user holds all that his processes map. A shared table counts as that of its user who holds
// least: so nobody's table goes because one who holds much maps it, too. Unused tables go first:
// the asker's, and those of users who hold more than he would; of others only what they have
// beyond an eighth of all. Then mapped tables, of users who hold more than the asker would. The
// user with most loses first: the least recently used unused table, or the largest mapped one.
class TableVictims {
 public:
  // For a table of `wanted` that `owners` map or are about to. `capacity`: all there is. Of
  // holders, unused ones that were used least recently come first.
  TableVictims(std::vector<TableHolder> holders, const std::vector<ShareOwner>& owners,
               std::uint64_t wanted, std::uint64_t capacity);

  // The next victim, then counted as freed. Nothing: the asker goes without.
  std::optional<std::uint32_t> next();
  // The same, if it is an unused table of an asker.
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
