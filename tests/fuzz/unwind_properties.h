// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "fuzz.h"
#include "unwind/unwind_table.h"

namespace offcpud::fuzz {

// The fields of a rule that the kernel programs rely on.
inline void require_rule(const UnwindRule& rule) {
  require(rule.kind <= OFFCPUD_UNWIND_NO_FDE, "a rule is of a known kind");
  require(rule.rbp <= OFFCPUD_UNWIND_RBP_LOST, "rbp is found in a known way");
  require(rule.reserved == 0, "equal rules are equal bytes");
}

// What every table promises, whatever it was made from (unwind_table.h).
inline void require_table(const UnwindTable& table, const UnwindLimits& limits = {}) {
  require(table.rows.size() <= limits.rows && table.pages.size() <= limits.pages &&
              table.rules.size() <= limits.rules,
          "tables are within the limits");
  require(table.rules.size() >= 2 && table.rules[0].kind == OFFCPUD_UNWIND_INVALID &&
              table.rules[1].kind == OFFCPUD_UNWIND_NO_FDE,
          "the first two rules are those of every dictionary");
  for (const UnwindRule& rule : table.rules) require_rule(rule);
  std::uint64_t next_row = 0, next_page = 0;
  for (const UnwindTable::Page& page : table.pages) {
    require(page.number >= next_page, "pages ascend");
    require(page.first == next_row && page.count > 0, "pages have their rows one after the other");
    next_page = std::uint64_t{page.number} + 1;
    next_row += page.count;
    require(next_row <= table.rows.size(), "pages have no more rows than there are");
    require(table.rows[page.first].address == 0, "a page's first row is at its first byte");
    for (std::uint32_t i = page.first; i < next_row; ++i) {
      const offcpud_unwind_row& row = table.rows[i];
      require(row.rule < table.rules.size(), "rows have rules that exist");
      require(i == page.first || table.rows[i - 1].address < row.address, "rows ascend");
      const std::uint64_t address =
          (std::uint64_t{page.number} << OFFCPUD_UNWIND_PAGE_SHIFT) + row.address;
      require(&table.find(address) == &table.rules[row.rule], "a row is found at its address");
    }
  }
  require(next_row == table.rows.size(), "every row belongs to a page");
  require(table.find(UINT64_MAX).kind == OFFCPUD_UNWIND_NO_FDE,
          "nothing is said about what no page has");
}

}  // namespace offcpud::fuzz
