// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/share_owner.h"

namespace offcpud {

// A table that holds some of a short resource: rows, pages, rules or files.
struct TableHolder {
  std::uint32_t object = 0;        // UnwindObjectId
  std::vector<ShareOwner> owners;  // users whose processes map it; of an unused one, its first user
  bool unused = false;
  std::uint64_t held = 0;
};

// Selects, one by one, the tables to remove so that another table gets room.
//
// A user holds the tables that the user's processes map. A shared table counts for the one of its
// users who holds least, so it stays even if a user who holds much maps it, too. These tables are
// removed, in this order:
// - unused ones: those of the requesting user; those of users who hold more than the requesting
//   user would then hold; of other users, what exceeds an eighth of the capacity;
// - mapped ones of users who hold more than the requesting user would then hold.
// Within each kind the user who holds most loses first: the least recently used of the unused
// tables, or the largest of the mapped ones.
class TableVictims {
 public:
  // For a table that needs `wanted` and that `owners` map or are about to map. `capacity`: the
  // whole resource. In `holders`, the least recently used of the unused tables comes first.
  TableVictims(std::vector<TableHolder> holders, const std::vector<ShareOwner>& owners,
               std::uint64_t wanted, std::uint64_t capacity);

  // Returns the next table to remove and counts it as removed. Nothing: the request fails.
  std::optional<std::uint32_t> next();
  // The same, if that is an unused table of the requesting user.
  std::optional<std::uint32_t> next_of_own();

 private:
  [[nodiscard]] std::uint64_t least_of(const std::vector<ShareOwner>& owners) const;
  [[nodiscard]] bool gives(const TableHolder& holder) const;

  std::vector<TableHolder> holders_;  // in the order in which they lose
  std::vector<ShareOwner> asking_;
  std::map<ShareOwner, std::uint64_t> held_;    // by user
  std::map<ShareOwner, std::uint64_t> unused_;  // the part of held_ in unused tables
  std::uint64_t would_hold_;
  std::uint64_t capacity_;
  std::size_t next_ = 0;
};

}  // namespace offcpud
