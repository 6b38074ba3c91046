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

// Limits for one file, whatever it contains, so that a few files cannot fill the kernel's maps. The
// largest of 2,235 files have 160,000 functions, 1.3 million rows, 1,690 pages and 881 rules;
// Chromium has 3 million rows.
struct UnwindLimits {
  std::uint32_t functions = 1 << 20;
  std::uint32_t rows = 3 << 20;  // a fifth of the capacity
  std::uint32_t pages = 8'192;   // of 64 KiB: an eighth of the capacity
  std::uint32_t rules = 2'048;   // a thirty-second of the capacity; further ones become INVALID
};

// The compiled .eh_frame of one object and Go's table of functions: for every address of its
// executable segments, the rule that leads to the caller's frame. Immutable; about 4 bytes per row.
struct UnwindTable {
  // Has rows first .. first + count - 1, ascending; the first begins at the first byte of the page.
  // Pages without any rule are left out.
  struct Page {
    std::uint32_t number = 0;  // address >> OFFCPUD_UNWIND_PAGE_SHIFT
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  std::vector<Page> pages;               // ascending
  std::vector<offcpud_unwind_row> rows;  // row.rule is an index into `rules` below
  std::vector<UnwindRule> rules;         // 0 and 1 as in every dictionary; all others are used
  std::uint32_t functions = 0;           // compiled FDEs and functions of Go
  std::uint32_t broken = 0;              // FDEs not compiled, or not to their end
  std::uint32_t invalid_rows = 0;        // rows whose rule cannot be followed
  bool rules_truncated = false;          // some of invalid_rows are due to the limit of rules

  // Looks up a rule as the kernel programs do. `address` as linked.
  [[nodiscard]] const UnwindRule& find(std::uint64_t address) const;
};

// Time is bounded by the size of the sections; memory by the limits: 16 bytes per function and 4
// per row. Error: the file exceeds the limits, or needs more work than its size explains. A broken
// function is only counted. Calls `between`, if set, every few milliseconds.
Result<UnwindTable> compile_unwind_table(const ElfObject& object, const UnwindLimits& limits = {},
                                         const std::function<void()>& between = {});

}  // namespace offcpud
