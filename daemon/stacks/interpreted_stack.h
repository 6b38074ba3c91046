// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// A function of a program that an interpreter runs.
struct InterpretedFrame {
  std::string function;    // as it is shown
  std::uint32_t line = 0;  // 0: unknown
  // The index, in the user stack, of the interpreter's own frame that runs it and in whose place it
  // is shown. At or beyond the end of the stack: it is shown outside of all.
  std::uint32_t at = 0;

  friend bool operator==(const InterpretedFrame&, const InterpretedFrame&) = default;
};

// The interpreted functions of one user stack. Immutable once it is shared.
struct InterpretedStack {
  std::uint64_t id = 0;                  // never reused; equal stacks may have different ones
  std::vector<InterpretedFrame> frames;  // innermost first, `at` ascending
  // Frames of the user stack in whose place nothing is shown, from the first up to, not including,
  // the last.
  std::uint32_t hidden_from = 0, hidden_to = 0;

  [[nodiscard]] std::size_t bytes() const;  // about
};

// What is shown: `user` with the interpreted functions in the place of the frames of the
// interpreter that run them. All innermost first. `interpreted` null: `user`.
std::vector<StackFrame> with_interpreted(std::span<const StackFrame> user,
                                         const InterpretedStack* interpreted);

}  // namespace offcpud
