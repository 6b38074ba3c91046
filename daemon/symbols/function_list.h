// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/name_table.h"

namespace offcpud {

// Limits for one object, whatever its tables say: for memory allocated while they are read, and for
// its functions afterwards. Of known objects, a librustc_driver with .symtab needs most: 19 MiB of
// names, 180,000 functions and 100,000 frames.
struct SymbolLimits {
  std::size_t ranges = 896 << 10;     // functions and frames together
  std::size_t frames = 512 << 10;     // part of `ranges`
  std::size_t name_bytes = 40 << 20;  // of all string tables used
  std::size_t go_bytes = 64 << 20;    // of a .gopclntab and the names so far
};

// Functions from one or more symbol tables. Names stay parts of a string table, as in the file, and
// functions may share them: nothing is copied for each function.
class FunctionList {
 public:
  struct Function {
    std::uint64_t start = 0;
    std::uint32_t size = 0;  // 0: unknown
    std::uint32_t name = 0;  // offset in names(), and kPreferred
  };
  static constexpr std::uint32_t kPreferred = 1U << 31U;

  explicit FunctionList(const SymbolLimits& limits = {}) : limits_(limits) {}

  [[nodiscard]] const SymbolLimits& limits() const { return limits_; }

  // Returns room for `size` more bytes of names, for the caller to fill; nullptr: beyond the
  // limits.
  char* add_names(std::size_t size);
  // The offset at which the next added names begin.
  [[nodiscard]] std::size_t name_bytes() const { return names_.size(); }

  // `name`: the offset of an existing name that is not empty. Among several names of one address,
  // the preferred one is shown, then the one with fewer leading underscores, then the shorter one.
  // False: beyond the limits.
  bool add(std::uint64_t start, std::uint64_t size, std::size_t name, bool preferred);
  // The same, and adds the name.
  bool add(std::uint64_t start, std::uint64_t size, std::string_view name, bool preferred);

  // Removes what was added after `mark`, because a table is used whole or not at all.
  struct Mark {
    std::size_t functions = 0;
    std::size_t name_bytes = 0;
  };
  [[nodiscard]] Mark mark() const { return {functions_.size(), names_.size()}; }
  void forget_since(const Mark& mark);

  [[nodiscard]] std::string_view name(const Function& function) const {
    return names_.at(function.name & ~kPreferred);
  }
  [[nodiscard]] std::vector<Function>& functions() { return functions_; }
  [[nodiscard]] NameTable& names() { return names_; }

 private:
  SymbolLimits limits_;
  std::vector<Function> functions_;
  NameTable names_;
};

}  // namespace offcpud
