// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "elf/elf_object.h"
#include "unwind/unwind_rule.h"

namespace offcpud {

// What one file may ask for, whatever it says, so that a few files do not fill the kernel's maps.
// Of 2,235 files the largest have 160,000 functions, 1.3 million rows, 1,690 pages and 881 rules;
// Chromium has 3 million rows.
struct UnwindLimits {
  std::uint32_t functions = 1 << 20;
  std::uint32_t rows = 3 << 20;  // a fifth of all
  std::uint32_t pages = 8'192;   // of 64 KiB: an eighth of all
  std::uint32_t rules = 2'048;   // a thirty-second of all; more become INVALID
};

// The .eh_frame of one object and Go's table of functions, compiled: for every address of its
// executable segments the rule that leads to the caller's frame. Immutable; about 4 bytes per row.
struct UnwindTable {
  // Rows first .. first + count - 1, ascending; the first is at the first byte of the page. Pages
  // without any rule are left out.
  struct Page {
    std::uint32_t number = 0;  // address >> OFFCPUD_UNWIND_PAGE_SHIFT
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  std::vector<Page> pages;               // ascending
  std::vector<offcpud_unwind_row> rows;  // row.rule is an index into `rules` of this table
  std::vector<UnwindRule> rules;         // 0 and 1 as in every dictionary; each other one is used
  std::uint32_t functions = 0;           // FDEs and functions of Go that were compiled
  std::uint32_t broken = 0;              // FDEs that were not, or not to their end
  std::uint32_t invalid_rows = 0;        // rows with a rule that cannot be followed
  bool rules_cut = false;                // of them some for the limit of rules

  // As the kernel programs look it up. `address` as linked.
  [[nodiscard]] const UnwindRule& find(std::uint64_t address) const;
};

// Time is bounded by the size of the sections, memory by the limits: 16 bytes for each function and
// 4 for each row. An Error when the file asks for more
// than the limits, or for more work than its size explains; a broken function is only counted.
// `between` is called now and then, every few milliseconds, unless it is empty.
Result<UnwindTable> compile_unwind_table(const ElfObject& object, const UnwindLimits& limits = {},
                                         const std::function<void()>& between = {});

}  // namespace offcpud
