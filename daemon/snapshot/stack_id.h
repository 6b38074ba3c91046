// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// The ids of the stacks of one snapshot's entries. An id depends only on the names of functions and
// objects, user and kernel, so the same stack has the same id in every process, snapshot and run of
// the daemon. It is a 64-bit FNV-1a hash. 0: there is no stack.
class StackIds {
 public:
  explicit StackIds(const Snapshot& snapshot);

  [[nodiscard]] std::uint64_t of(const StackEntry& entry) const;

 private:
  std::vector<std::uint64_t> frames_;
};

// Formats an id as 16 hexadecimal digits.
std::string stack_id_text(std::uint64_t id);

// Parses the result of stack_id_text(), also in upper case; nullopt: it is something else.
std::optional<std::uint64_t> parse_stack_id(std::string_view text);

}  // namespace offcpud
