// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "elf/address_range.h"
#include "symbols/function_list.h"

namespace offcpud {

// Maps addresses to functions of one object, in 12 bytes per function plus the names. Immutable.
//
// A function reaches as far as its symbol says; where functions overlap, the one that starts last
// counts. A symbol of unknown size reaches to the next symbol, the end of its FDE or the end of its
// section, whichever comes first, but a symbol with a size takes precedence. An address
// outside of all these is not attributed to the nearest symbol: it belongs to its FDE, or is
// unknown.
class FunctionIndex {
 public:
  struct Found {
    std::string_view name;    // as in the symbol table; empty: only an FDE is known
    std::uint64_t start = 0;  // start of the FDE; 0: there is a name
  };

  FunctionIndex() = default;
  // `frames`: functions known by their FDEs. `code`: where instructions are; functions that start
  // elsewhere are left out. Needs 24 bytes for each function and frame, besides its arguments.
  FunctionIndex(FunctionList functions, std::vector<AddressRange> frames,
                std::vector<AddressRange> code);

  [[nodiscard]] std::optional<Found> find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const;

  // Equal functions with equal names.
  bool operator==(const FunctionIndex&) const = default;

 private:
  struct Entry {
    std::uint32_t start;  // relative to base_
    std::uint32_t size;
    std::uint32_t name;  // offset in names_, or kFrame | distance from the start of the FDE
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
