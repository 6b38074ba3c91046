// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "elf/go_function_table.h"

namespace offcpud {

// Says in which function an instruction of one process is, and how far the return address is from
// the stack pointer there. Remembers its answers, within limits. The table is untrusted. Used by
// one thread.
class GoFunctions {
 public:
  static constexpr std::size_t kMostPlaces = 65'536;  // beyond, all are forgotten
  // The most bytes of names; functions beyond are shown as kLeftOut.
  static constexpr std::size_t kMostNameBytes = std::size_t{8} << 20;
  static constexpr const char* kLeftOut = "[go]";

  struct Place {
    bool is_known = false;
    bool is_root = false;        // stacks begin in this function
    std::uint32_t function = 0;  // see name()
    std::int32_t depth = -1;     // negative: it is not known
  };

  struct Limits {
    std::size_t places = kMostPlaces, name_bytes = kMostNameBytes;
  };

  // `bias`: how far addresses of the process are from those of the table, whose bytes must outlive
  // the object.
  GoFunctions(GoFunctionTable table, std::uint64_t bias) : GoFunctions(table, bias, Limits()) {}
  GoFunctions(GoFunctionTable table, std::uint64_t bias, const Limits& limits)
      : table_(table), bias_(bias), limits_(limits) {}

  // Allows find() this many steps from now on, each of some nanoseconds. When they are used up, the
  // depths of further places are unknown. Before the first call no step is allowed.
  void allow(std::size_t steps) { steps_ = steps; }
  // `address`: of the process.
  Place find(std::uint64_t address);
  // `function`: as found.
  [[nodiscard]] const std::string& name(std::uint32_t function) const { return names_[function]; }

 private:
  [[nodiscard]] Place look(std::uint64_t address);
  std::uint32_t function_of(const GoFunction& function);

  GoFunctionTable table_;
  std::uint64_t bias_;
  Limits limits_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::map<std::uint64_t, std::uint32_t> functions_;  // by address as linked
  std::vector<std::string> names_{kLeftOut};
  std::size_t name_bytes_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace offcpud
