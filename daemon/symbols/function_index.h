// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "elf/address_range.h"
#include "symbols/function_list.h"

namespace offcpud {

// From address to function of one object, in 12 bytes a function and the names. Immutable.
//
// A function reaches as far as its symbol says; where such ranges overlap, the one that starts last
// counts. A symbol of unknown size reaches to the next symbol, the end of its FDE, or the end of
// its section, whichever comes first, and only where no symbol with a size is. An address outside
// of all of them is not the nearest symbol's: it belongs to its FDE, or is unknown.
class FunctionIndex {
 public:
  struct Found {
    std::string_view name;    // as in the symbol table; empty if only an FDE tells
    std::uint64_t start = 0;  // of the FDE; 0 if there is a name
  };

  FunctionIndex() = default;
  // `frames`: functions by their FDEs. `code`: where instructions are; functions that start outside
  // are left out. Needs 24 bytes for each function and frame, and what it is given.
  FunctionIndex(FunctionList functions, std::vector<AddressRange> frames,
                std::vector<AddressRange> code);

  [[nodiscard]] std::optional<Found> find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const;

  // The same functions under the same names.
  bool operator==(const FunctionIndex&) const = default;

 private:
  struct Entry {
    std::uint32_t start;  // since base_
    std::uint32_t size;
    std::uint32_t name;  // offset in names_; or kFrame | distance from the start of the FDE
    bool operator==(const Entry&) const = default;
  };
  static constexpr std::uint32_t kFrame = 1U << 31U;

  template <class Pieces>
  void take(Pieces pieces);
  void keep_used_names();

  std::uint64_t base_ = 0;
  std::vector<Entry> entries_;  // ascending, disjoint
  NameTable names_;
};

}  // namespace offcpud
