// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/word_hash.h"
#include "symbols/frame_name.h"

namespace offcpud {

// Remembers the names of places in objects. Threads wait at the same places in one window after the
// other; so these keep their names while the symbols of their object make room for others.
//
// Holds two generations of at most half of `bytes` each: when the new one is full, it becomes the
// old one, and what was not asked for since is forgotten. Owned by one thread.
class RememberedNames {
 public:
  explicit RememberedNames(std::size_t bytes) : half_(bytes / 2) {}

  void put(ObjectId object, std::uint64_t file_offset, const FrameName& name);

  // Null: not remembered. Valid until the next call.
  const FrameName* find(ObjectId object, std::uint64_t file_offset);

  [[nodiscard]] std::size_t bytes() const { return young_bytes_ + old_bytes_; }

 private:
  using Place = std::array<std::uint64_t, 2>;  // object and offset
  using Names = std::unordered_map<Place, FrameName, WordsHash>;

  FrameName& add(const Place& place, FrameName name);

  std::size_t half_;
  Names young_;
  Names old_;
  std::size_t young_bytes_ = 0;
  std::size_t old_bytes_ = 0;
};

}  // namespace offcpud
