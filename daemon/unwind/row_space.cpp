// SPDX-License-Identifier: Apache-2.0
#include "unwind/row_space.h"

#include <algorithm>
#include <iterator>

#include "unwind.h"

namespace offcpud {

void RowSpace::add_chunk() {
  Chunk& chunk = free_.emplace_back();
  chunk.free.emplace(0, OFFCPUD_UNWIND_CHUNK_ROWS);
  chunk.free_rows = OFFCPUD_UNWIND_CHUNK_ROWS;
}

std::optional<RowExtent> RowSpace::take(std::uint32_t rows) {
  for (std::uint32_t i = 0; i < chunks(); ++i) {
    Chunk& chunk = free_[i];
    if (chunk.free_rows < rows) continue;
    const auto extent =
        std::ranges::find_if(chunk.free, [&](const auto& free) { return free.second >= rows; });
    if (extent == chunk.free.end()) continue;
    const auto [first, size] = *extent;
    chunk.free.erase(extent);
    if (size > rows) chunk.free.emplace(first + rows, size - rows);
    chunk.free_rows -= rows;
    in_use_ += rows;
    return RowExtent{i, first, rows};
  }
  return std::nullopt;
}

void RowSpace::give_back(const RowExtent& extent) {
  Chunk& chunk = free_[extent.chunk];
  auto place = chunk.free.emplace(extent.first, extent.rows).first;
  chunk.free_rows += extent.rows;
  in_use_ -= extent.rows;
  if (const auto after = std::next(place);
      after != chunk.free.end() && place->first + place->second == after->first) {
    place->second += after->second;
    chunk.free.erase(after);
  }
  if (place == chunk.free.begin()) return;
  if (const auto before = std::prev(place); before->first + before->second == place->first) {
    before->second += place->second;
    chunk.free.erase(place);
  }
}

}  // namespace offcpud
