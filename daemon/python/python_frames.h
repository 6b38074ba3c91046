// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "python/python_runtime.h"

namespace offcpud {

// A frame as it is in memory. PythonCodes knows the name of its code.
struct PythonCodeFrame {
  std::uint64_t code = 0;         // the address of the code object
  std::uint64_t instruction = 0;  // as the frame has it: see PythonLayout::instruction_unit()
  // An address within the frame of the C function that runs it: of its _PyCFrame (3.11) or its shim
  // (from 3.12 on). 0: there is none, or it was not found.
  std::uint64_t host = 0;
};

// Follows the frames of one thread at rest, from its thread pointer on. Reads nothing itself, but
// says what to read next, so that the reads of many threads go into few requests. The memory is
// untrusted: the number of steps is bounded, as a chain of frames may be a circle.
class PythonFrames {
 public:
  static constexpr std::size_t kMost = 128;         // frames that are kept, the innermost
  static constexpr std::size_t kMostSteps = 1'024;  // to find the C function that runs the last one

  enum class End : std::uint8_t {
    Root,      // all frames of the thread, perhaps none
    Depth,     // there are more
    NoState,   // the thread has no thread state: it runs no Python
    Mismatch,  // its memory is not that of such a thread
  };

  // `runtime` must outlive the object.
  PythonFrames(const PythonRuntime& runtime, std::uint64_t thread_pointer);

  [[nodiscard]] bool done() const { return step_ == Step::Done; }
  [[nodiscard]] std::uint64_t address() const { return from_; }  // to read next
  [[nodiscard]] std::size_t size() const { return size_; }
  // What was read there: fewer bytes than size(), if not all could be read.
  void take(std::span<const std::byte> bytes);

  [[nodiscard]] End end() const { return end_; }
  // Innermost first.
  [[nodiscard]] const std::vector<PythonCodeFrame>& frames() const { return frames_; }

 private:
  enum class Step : std::uint8_t { Slot, State, CFrame, Frame, Done };

  void want(Step step, std::uint64_t address, std::size_t size);
  void want_frame(std::uint64_t address);
  void finish(End end);
  void take_state(std::span<const std::byte> bytes);
  void take_cframe(std::span<const std::byte> bytes);
  void take_frames(std::span<const std::byte> bytes);
  // Returns the address of the next frame; 0: the walk has ended, or needs a _PyCFrame first.
  std::uint64_t take_frame(std::uint64_t address, std::span<const std::byte> bytes);
  void set_host(std::uint64_t host);

  const PythonRuntime& runtime_;
  std::uint64_t thread_pointer_;
  Step step_ = Step::Slot;
  std::uint64_t from_ = 0;
  std::size_t size_ = 0;
  std::uint64_t at_ = 0;      // the frame that is wanted, at or behind from_
  std::uint64_t cframe_ = 0;  // of the frames that come next (3.11)
  std::uint64_t cframe_previous_ = 0;
  std::uint64_t resumes_ = 0;  // the frame that is read after the wanted _PyCFrame
  std::size_t steps_ = 0;
  bool left_out_ = false;   // a frame, for lack of room
  std::size_t hosted_ = 0;  // how many of the first frames have their host
  End end_ = End::Root;
  std::vector<PythonCodeFrame> frames_;
};

}  // namespace offcpud
