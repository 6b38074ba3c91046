// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// Numbers of the stacks of the entries of one snapshot. A number depends on nothing but the names
// of functions and objects, user and kernel, so the same stack has the same number in every
// process, snapshot and run of the daemon: FNV-1a of 64 bits. 0: there is no stack.
class StackIds {
 public:
  explicit StackIds(const Snapshot& snapshot);

  [[nodiscard]] std::uint64_t of(const StackEntry& entry) const;

 private:
  std::vector<std::uint64_t> frames_;
};

// 16 hexadecimal digits.
std::string stack_id_text(std::uint64_t id);

// What stack_id_text() makes, also in upper case; nullopt: something else.
std::optional<std::uint64_t> parse_stack_id(std::string_view text);

}  // namespace offcpud
