// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace offcpud {

// Where a mapped program or library has its tables for the dynamic linker (System V gABI, "Dynamic
// Section"). Addresses are those in the process. 0: there is no such table.
struct MappedTables {
  // Reads bytes of the process: the range, or as much from its beginning as can be read.
  using Read = std::function<std::vector<std::byte>(std::uint64_t address, std::size_t size)>;

  // `base`: where the beginning of the file is mapped. Nothing: there is no ELF header of 64 bits,
  // or no dynamic section. The memory is untrusted: whatever it holds, this does three reads of
  // some KiB.
  static std::optional<MappedTables> read(const Read& read, std::uint64_t base);

  std::uint64_t bias = 0;  // address in memory - address in the ELF file
  std::uint64_t symbols = 0, names = 0;
  std::uint64_t names_size = 0;  // in bytes, as the file says
  std::uint64_t hashes = 0;      // DT_GNU_HASH
};

}  // namespace offcpud
