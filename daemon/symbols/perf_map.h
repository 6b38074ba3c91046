// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// What a perf map says of code that a JIT compiler made: lines "START SIZE name", numbers in
// hexadecimal. Where entries overlap the later line counts, as compilers reuse memory. Immutable.
class PerfMap {
 public:
  PerfMap() = default;
  explicit PerfMap(std::string_view text);

  // As in the file: any bytes. Lives as long as the map.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t start;
    std::uint64_t end;
    std::uint32_t name;  // offset in names_
  };

  std::vector<Entry> entries_;  // ascending, disjoint
  std::string names_;
};

}  // namespace offcpud
