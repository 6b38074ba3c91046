// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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

// Numbers a place (ThreadAtPlace::place) by a reason and the program's frames, outermost first.
//
// Two kinds of stacks count from an inner frame on only, because their outer frames differ from
// thread to thread, or change while the program runs:
// - what a team of OpenMP runs: its first thread has other callers than the rest;
// - the waits of Java on which rules ask for evidence, from the innermost named function outside of
//   Java's own library. What was compiled when decides which functions further out have a name, and
//   which functions of the library are inlined; of the library's, only the innermost counts.
//   The walk need not reach the root: it does not where callers were compiled a moment ago.
class PlaceNumber {
 public:
  // What a frame is to a place.
  enum class Part : std::uint8_t {
    Any,
    Team,         // the body of a parallel region of OpenMP
    Java,         // compiled code of an application
    Library,      // of Java's own library
    Interpreted,  // either of them
    Park,         // functions of that library in which all such waits end
    Machine       // the function of the virtual machine in which a thread parks
  };

  explicit PlaceNumber(std::size_t reason)
      : basis_(hash_joined(kHashBasis, reason)), hash_(basis_), inner_(basis_) {}

  // `name`: name_hash(). Part::Any for a frame of another part only makes one place several.
  void add(std::uint64_t name, Part part = Part::Any);
  void add(const StackFrame& frame) { add(name_hash(frame), part_of(frame)); }

  static Part part_of(const StackFrame& frame);

  // `reached_root`: is_place(). 0: the stack is no place, because it has no frames, or because some
  // of its names are unknown: a rule that knows them may say something else. For example, idle
  // threads of Go wake each other as threads that wait for a lock do.
  [[nodiscard]] std::uint64_t number(bool reached_root = true) const;

  // ThreadAtPlace::caller. For Java, it stands for the function from which on the place counts and
  // the function of the virtual machine in which the thread waits; else 0.
  [[nodiscard]] std::uint64_t caller() const { return caller_; }
  // Whether named functions of Java's library are further in than that function.
  [[nodiscard]] bool has_library() const { return has_library_; }

 private:
  void begin_inner(bool counts);
  void add_inner(std::uint64_t name);

  std::uint64_t basis_;
  std::uint64_t hash_;         // of all frames
  std::uint64_t inner_;        // of the frames from the last one on at which a place may begin
  std::uint64_t library_ = 0;  // the last one of Java's library within these; not yet in `inner_`
  bool has_frames_ = false, has_names_ = true;
  bool is_inner_ = false;          // `inner_` is the place
  bool is_java_ = false;           // `inner_` will be, if the thread parks further in
  std::uint64_t application_ = 0;  // the function from which on it counts then
  std::uint64_t caller_ = 0;
  bool has_library_ = false;
  bool inner_has_names_ = true;
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

// The key for what these rules (WaitClassifier::generation()) said of the waits of one thread there
// whose interpreted functions were known.
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
