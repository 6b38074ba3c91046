// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "reader/memory_words.h"

namespace offcpud {

// The symbols that a mapped program or library exports, read from the tables that it has in memory
// for the dynamic linker. No file is opened, because it may be deleted or in another mount
// namespace. The memory is untrusted: whatever it holds, read() and find() do some ten reads each.
class DynamicSymbols {
 public:
  struct Symbol {
    std::uint64_t address = 0;  // in the process
    std::uint64_t size = 0;
  };

  // `base`: where the beginning of the file is mapped. Nothing: there is no ELF header, or no table
  // of hashes (DT_GNU_HASH), which linkers make by default. `memory` must outlive the object.
  static std::optional<DynamicSymbols> read(const MemoryWords& memory, std::uint64_t base);

  // Nothing: it is not exported.
  [[nodiscard]] std::optional<Symbol> find(std::string_view name) const;

 private:
  explicit DynamicSymbols(const MemoryWords& memory) : memory_(&memory) {}
  [[nodiscard]] bool has_name(std::uint64_t at, std::string_view name) const;

  const MemoryWords* memory_;
  std::uint64_t bias_ = 0;  // address in memory - address in the ELF file
  std::uint64_t symbols_ = 0, names_ = 0;
  std::uint64_t buckets_ = 0, chains_ = 0;
  std::uint32_t bucket_count_ = 0, first_symbol_ = 0;
};

}  // namespace offcpud
