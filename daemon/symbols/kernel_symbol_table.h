// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/function_index.h"

namespace offcpud {

// A function of the kernel, of a module or of BPF. Both views live as long as the table.
struct KernelFunction {
  std::string_view name;
  std::string_view module;  // "nf_tables", or "bpf" for BPF programs; empty for the kernel itself
};

// What /proc/kallsyms and /proc/modules said at one moment. Immutable.
//
// The list has no sizes: a function reaches to the next symbol, at most to the end of the kernel's
// code or of its module. What is in a pseudo module (BPF programs, ftrace trampolines) or in a
// module of unknown size reaches 64 KiB at most.
class KernelSymbolTable {
 public:
  KernelSymbolTable() = default;

  // Lines "ffffffff81000000 T name\t[module]", and "name size n - Live 0xffffffffc0000000". An
  // error of kind Permission, with what to do, if the kernel hides the addresses; of kind
  // Unsupported if there are no symbols at all.
  static Result<KernelSymbolTable> parse(std::string_view kallsyms, std::string_view modules);

  [[nodiscard]] std::optional<KernelFunction> find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t start;
    std::uint32_t size;
    std::uint32_t name;  // offset in names_; the module's name follows the zero byte of the name
  };

  std::vector<Entry> entries_;  // ascending, disjoint
  std::string names_;
};

}  // namespace offcpud
