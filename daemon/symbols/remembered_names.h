// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/word_hash.h"
#include "symbols/frame_name.h"
#include "symbols/two_generations.h"

namespace offcpud {

// Remembers the names of places in objects, in at most `bytes`. Threads wait at the same places in
// window after window, so these keep their names even when the symbols of their object have made
// room for others. Owned by one thread.
class RememberedNames {
 public:
  explicit RememberedNames(std::size_t bytes) : names_(bytes) {}

  void put(ObjectId object, std::uint64_t file_offset, const FrameName& name);

  // Null: not remembered. Valid until the next call.
  const FrameName* find(ObjectId object, std::uint64_t file_offset);

  [[nodiscard]] std::size_t bytes() const { return names_.bytes(); }

 private:
  using Place = std::array<std::uint64_t, 2>;  // object and offset

  TwoGenerations<Place, FrameName, WordsHash> names_;
};

}  // namespace offcpud
