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
  // The index, in the user stack, of the interpreter's frame in whose place it is shown, because
  // that frame runs it. At or beyond the end of the stack: it is shown at the root.
  std::uint32_t at = 0;

  friend bool operator==(const InterpretedFrame&, const InterpretedFrame&) = default;
};

// The interpreted functions of one user stack. Immutable once it is shared.
struct InterpretedStack {
  std::uint64_t id = 0;                  // never reused; equal stacks may have different ones
  std::vector<InterpretedFrame> frames;  // innermost first, `at` ascending
  // Frames of the user stack that are not shown: from `hidden_from` up to, not including,
  // `hidden_to`.
  std::uint32_t hidden_from = 0, hidden_to = 0;

  [[nodiscard]] std::size_t bytes() const;  // about
};

// Returns what is shown: `user` with the interpreted functions in place of the interpreter's frames
// that run them; `user` itself if `interpreted` is null. All are innermost first.
std::vector<StackFrame> with_interpreted(std::span<const StackFrame> user,
                                         const InterpretedStack* interpreted);

}  // namespace offcpud
