// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "elf/address_range.h"
#include "elf/elf_file.h"
#include "elf/go_function_table.h"

namespace offcpud {

// What is needed of the file of a Go program. Addresses are as linked.
struct GoFile {
  GoSection table;
  AddressRange build_info;             // empty: there is none
  AddressRange data;                   // of variables that have a value from the start
  std::vector<AddressRange> writable;  // of all variables
  std::vector<ElfSegment> segments;    // that are mapped (PT_LOAD)

  // How far addresses in a process are from those as linked, if the process has the file mapped at
  // `begin` from `offset` on. nullopt: the file is not mapped so.
  [[nodiscard]] std::optional<std::uint64_t> bias(std::uint64_t begin, std::uint64_t offset) const;
};

// nullopt: it is no program of Go 1.16 or newer, for x86-64. Reads the whole table of functions,
// kMaxGoTable at most.
Result<std::optional<GoFile>> read_go_file(int fd);

}  // namespace offcpud
