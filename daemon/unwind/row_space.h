// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace offcpud {

// Consecutive rows of one chunk.
struct RowExtent {
  std::uint32_t chunk = 0;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
};

// Knows which rows of the chunks are free, but not their contents.
class RowSpace {
 public:
  // nullopt: no chunk has `rows` consecutive free rows (1 to 65,536); add_chunk() may help.
  std::optional<RowExtent> take(std::uint32_t rows);
  void give_back(const RowExtent& extent);
  void add_chunk();

  [[nodiscard]] std::uint32_t chunks() const { return static_cast<std::uint32_t>(free_.size()); }
  [[nodiscard]] std::uint64_t rows_in_use() const { return in_use_; }

 private:
  struct Chunk {
    std::map<std::uint32_t, std::uint32_t> free;  // first -> rows; neighbours are merged
    std::uint32_t free_rows = 0;
  };
  std::vector<Chunk> free_;
  std::uint64_t in_use_ = 0;
};

}  // namespace offcpud
