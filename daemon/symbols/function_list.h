// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/name_table.h"

namespace offcpud {

// What one object may ask for, whatever its tables say: this is allocated while they are read, and
// is what its functions take afterwards at most. Of what is known, a librustc_driver with .symtab
// asks for most: 19 MiB of names, 180,000 functions and 100,000 frames.
struct SymbolLimits {
  std::size_t ranges = 896 << 10;     // functions and frames together
  std::size_t frames = 512 << 10;     // of them
  std::size_t name_bytes = 40 << 20;  // of all string tables that are used
  std::size_t go_bytes = 64 << 20;    // of a .gopclntab and the names so far
};

// What symbol tables say of functions, collected from one or more of them. The names stay what they
// are in the file, parts of a string table, which several functions may share: nothing is copied
// for each function.
class FunctionList {
 public:
  struct Function {
    std::uint64_t start = 0;
    std::uint32_t size = 0;  // 0: not known
    std::uint32_t name = 0;  // offset in names(), and kPreferred
  };
  static constexpr std::uint32_t kPreferred = 1U << 31U;

  explicit FunctionList(const SymbolLimits& limits = {}) : limits_(limits) {}

  [[nodiscard]] const SymbolLimits& limits() const { return limits_; }

  // Room for `size` bytes of names more, to be filled by the caller, or nullptr beyond the limits.
  char* add_names(std::size_t size);
  // Where those that are added next begin.
  [[nodiscard]] std::size_t name_bytes() const { return names_.size(); }

  // `name`: offset of one that is there, and not empty. Among names of one address the preferred
  // one is shown, then the one with fewer leading underscores, then the shorter. False beyond the
  // limits.
  bool add(std::uint64_t start, std::uint64_t size, std::size_t name, bool preferred);
  // The same with a name of its own.
  bool add(std::uint64_t start, std::uint64_t size, std::string_view name, bool preferred);

  // Forgets what was added since there were so many: tables count whole or not at all.
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
