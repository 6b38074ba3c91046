// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/unique_handle.h"
#include "unwind/unwind_table.h"

namespace offcpud {

// What elfutils' libdw makes of the call frame information of an ELF file: an independent reading
// of the same bytes.
class LibdwOracle {
 public:
  explicit LibdwOracle(int fd);
  LibdwOracle(const LibdwOracle&) = delete;
  LibdwOracle& operator=(const LibdwOracle&) = delete;
  ~LibdwOracle() {
    dwarf_cfi_end(cfi_);
    elf_end(elf_);
  }

  [[nodiscard]] bool has_cfi() const { return cfi_ != nullptr; }

  struct Row {
    std::uint64_t begin = 0, end = 0;  // one more than the last address at which `rule` holds
    UnwindRule rule{};                 // NO_FDE: begin and end are those asked for
  };
  [[nodiscard]] Row at(std::uint64_t address) const;

 private:
  Elf* elf_;
  Dwarf_CFI* cfi_;  // to be ended before elf_ is
};

// Every row of a table against libdw, at its first and its last address, and at both of every row
// of libdw in between.
struct Comparison {
  std::uint64_t addresses = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t invalid = 0;  // addresses where both say that the rule is none of ours
  std::string first_mismatch;

  Comparison& operator+=(const Comparison& other);
};
Comparison compare(const UnwindTable& table, const LibdwOracle& oracle);

std::string to_string(const UnwindRule& rule);

}  // namespace offcpud
