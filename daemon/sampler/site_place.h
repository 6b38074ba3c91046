// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "base/word_hash.h"
#include "snapshot/snapshot.h"
#include "unwind.h"

namespace offcpud {

// Identifies a frame of a place, by names, so that all calls of a function are one frame.
inline std::uint64_t name_hash(const StackFrame& frame) {
  return hash_joined(std::hash<std::string>()(frame.function),
                     std::hash<std::string>()(frame.object));
}

// Numbers a place, ThreadAtPlace::place: a reason and the frames of the program, outermost first.
class PlaceNumber {
 public:
  explicit PlaceNumber(std::size_t reason) : hash_(hash_joined(kHashBasis, reason)) {}

  void add(std::uint64_t name) {
    hash_ = hash_joined(hash_, name);
    has_frames_ = true;
  }
  // 0: a stack without frames is no place.
  [[nodiscard]] std::uint64_t number() const {
    return has_frames_ ? std::max<std::uint64_t>(hash_, 1) : 0;
  }

 private:
  std::uint64_t hash_;
  bool has_frames_ = false;
};

// Whether a stack identifies a place. Stacks that break off may look alike although their threads
// are elsewhere.
constexpr bool is_place(std::uint32_t user_end) {
  return user_end == OFFCPUD_UNWIND_END_ROOT || user_end == OFFCPUD_UNWIND_END_DEPTH;
}

}  // namespace offcpud
