// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "base/word_hash.h"
#include "sites/place_classes.h"
#include "snapshot/snapshot.h"
#include "unwind.h"

namespace offcpud {

// Whether the frame has the name of a function. A name such as "[libfoo.so+0x1234]" is none: the
// symbols of its object are not read, or not yet.
inline bool has_name(const StackFrame& frame) {
  return frame.kernel || !frame.function.starts_with('[') ||
         frame.function.find("+0x") == std::string::npos;
}

// Identifies a frame of a place by names, so that all calls of a function count as one frame. 0: it
// has no name.
inline std::uint64_t name_hash(const StackFrame& frame) {
  if (!has_name(frame)) return 0;
  const std::uint64_t hash =
      hash_joined(std::hash<std::string>()(frame.function), std::hash<std::string>()(frame.object));
  return std::max<std::uint64_t>(hash, 1);
}

// Numbers a place, ThreadAtPlace::place: a reason and the frames of the program, outermost first.
class PlaceNumber {
 public:
  explicit PlaceNumber(std::size_t reason) : hash_(hash_joined(kHashBasis, reason)) {}

  // `name`: name_hash().
  void add(std::uint64_t name) {
    hash_ = hash_joined(hash_, name);
    has_frames_ = true;
    has_names_ = has_names_ && name != 0;
  }
  // 0: the stack is no place, because it has no frames, or because some of its names are unknown: a
  // rule that knows them may say something else. For example, idle threads of Go wake each other as
  // threads that wait for a lock do.
  [[nodiscard]] std::uint64_t number() const {
    return has_frames_ && has_names_ ? std::max<std::uint64_t>(hash_, 1) : 0;
  }

 private:
  std::uint64_t hash_;
  bool has_frames_ = false;
  bool has_names_ = true;
};

// The key under which PlaceClasses keeps something further about a place.
inline ProcessPlace place_beside(ProcessPlace at, std::uint64_t what) {
  at.place = std::max<std::uint64_t>(hash_joined(at.place, what), 1);
  return at;
}

// The key for what the past says of answers there (AnswerPast).
inline ProcessPlace place_of_answers(const ProcessPlace& at) {
  return place_beside(at, 1);
}

// The key for the waits there that chains could follow; the others are `unknown`.
inline ProcessPlace place_of_followed(const ProcessPlace& at) {
  return place_beside(at, 2);
}

// The key for the waits of one thread there whose interpreted functions were known, and what these
// rules (WaitClassifier::generation()) said of them.
inline ProcessPlace place_of_thread(const ProcessPlace& at, std::uint32_t tid,
                                    std::uint32_t generation) {
  return place_beside(place_beside(at, (std::uint64_t{tid} << 2) + 3), generation);
}

// Whether a stack identifies a place. Stacks that break off may look alike although their threads
// are elsewhere.
constexpr bool is_place(std::uint32_t user_end) {
  return user_end == OFFCPUD_UNWIND_END_ROOT || user_end == OFFCPUD_UNWIND_END_DEPTH;
}

}  // namespace offcpud
