// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "unwind/elf_object.h"
#include "unwind/unwind_rule.h"

namespace offcpud {

// What one file may ask for, whatever it says. Chromium, the largest known, has 3 million rows;
// libLLVM 160,000 functions.
struct UnwindLimits {
  std::uint32_t functions = 1 << 20;
  std::uint32_t rows = 4 << 20;
  std::uint32_t pages = 65'536;  // of 64 KiB
  std::uint32_t rules = 8'192;   // more become INVALID; the largest of Debian's files has 600
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

  // As the kernel programs look it up. `address` as linked.
  [[nodiscard]] const UnwindRule& find(std::uint64_t address) const;
};

// Time is bounded by the size of the sections, memory by the limits: 16 bytes for each function and
// 4 for each row. An Error when the file asks for more
// than the limits, or for more work than its size explains; a broken function is only counted.
Result<UnwindTable> compile_unwind_table(const ElfObject& object, const UnwindLimits& limits = {});

}  // namespace offcpud
