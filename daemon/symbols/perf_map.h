// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/name_table.h"

namespace offcpud {

// What a perf map says of code that a JIT compiler made: lines "START SIZE name", numbers in
// hexadecimal. Where entries overlap the later line counts, as compilers reuse memory. Immutable.
//
// Of the lines the last kMaxLines count; 10,000 are usual, a JVM of a large program has 100,000. So
// it takes as much memory as the text and 24 bytes for each line, twice that where all overlap, and
// the same again while it is made.
class PerfMap {
 public:
  static constexpr std::size_t kMaxLines = 256 << 10;

  PerfMap() = default;
  explicit PerfMap(std::string_view text);

  // Whether there were more lines.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

  struct Line;  // while it is made

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

  void take_names(std::string_view text, std::vector<Line>& lines);

  std::vector<Entry> entries_;  // ascending, disjoint
  NameTable names_;
  bool is_cut_ = false;
};

}  // namespace offcpud
