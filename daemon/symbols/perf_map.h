// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/name_table.h"

namespace offcpud {

// Names of code made by a JIT compiler, from a perf map: lines "START SIZE name" with hexadecimal
// numbers. Where entries overlap the later line counts, because compilers reuse memory. Immutable.
//
// Only the last kMaxLines lines count; 10,000 are usual, and a JVM of a large program has 100,000.
// The map takes as much memory as its text plus 24 bytes per line, or twice that if all overlap,
// and the same again while it is made.
class PerfMap {
 public:
  static constexpr std::size_t kMaxLines = 256 << 10;

  PerfMap() = default;
  explicit PerfMap(std::string_view text);

  // Whether there were more lines.
  [[nodiscard]] bool is_truncated() const { return is_truncated_; }

  struct Line;  // used while the map is made

  // As in the file: any bytes. Valid as long as the map.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t start;
    std::uint64_t end;
    std::uint32_t name;  // offset in names_
  };

  void take_names(std::string_view text, std::vector<Line>& lines);

  std::vector<Entry> entries_;  // ascending, disjoint
  NameTable names_;
  bool is_truncated_ = false;
};

}  // namespace offcpud
