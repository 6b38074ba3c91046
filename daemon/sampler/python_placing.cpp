// SPDX-License-Identifier: Apache-2.0
#include "sampler/python_placing.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace offcpud {
namespace {

// The frames of the C function that runs frames of Python, innermost first. A return address is
// behind its call, which may be the last instruction of the function.
std::vector<std::uint32_t> frames_of_eval(const PythonRuntime& runtime, const RemoteStack& stack) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < stack.addresses.size(); ++i) {
    const std::uint64_t at = stack.addresses[i] - (i == 0 ? 0 : 1);
    if (runtime.eval_begin <= at && at < runtime.eval_end) found.push_back(i);
  }
  return found;
}

// The frame whose part of the stack has the address. Nobody knows where the outermost one ends.
std::uint32_t frame_at(const RemoteStack& stack, std::uint64_t address) {
  const auto outside = static_cast<std::uint32_t>(stack.addresses.size());
  const std::vector<std::uint64_t>& pointers = stack.stack_pointers;
  const auto after = std::ranges::upper_bound(pointers, address);
  if (after == pointers.begin() || after == pointers.end()) return outside;
  return static_cast<std::uint32_t>(after - pointers.begin() - 1);
}

}  // namespace

InterpretedStack place_python(const PythonCalls& calls, const PythonRuntime& runtime,
                              const RemoteStack& stack) {
  InterpretedStack placed;
  const auto outside = static_cast<std::uint32_t>(stack.addresses.size());
  for (const PythonFrame& frame : calls.frames) {
    placed.frames.push_back({.function = frame.function, .line = frame.line, .at = outside});
  }
  if (calls.end == PythonFrames::End::Depth) {
    placed.frames.push_back(
        {.function = "[more functions of Python than are kept]", .at = outside});
  }
  if (runtime.layout->is_one_each()) {
    const auto eval = frames_of_eval(runtime, stack);
    const bool is_whole = stack.end == OFFCPUD_UNWIND_END_ROOT;
    if (eval.empty()) return placed;
    if (is_whole && calls.end == PythonFrames::End::Root && eval.size() != calls.frames.size()) {
      for (InterpretedFrame& frame : placed.frames) frame.at = eval.front();
      placed.hidden_from = eval.front();
      placed.hidden_to = eval.back() + 1;
      return placed;
    }
    for (std::size_t i = 0; i < std::min(eval.size(), placed.frames.size()); ++i) {
      placed.frames[i].at = eval[i];
    }
    return placed;
  }
  for (std::size_t i = 0; i < calls.frames.size(); ++i) {
    placed.frames[i].at = frame_at(stack, calls.frames[i].host);
  }
  // What is known of an inner function may be less than of an outer one.
  for (std::size_t i = calls.frames.size(); i-- > 1;) {
    placed.frames[i - 1].at = std::min(placed.frames[i - 1].at, placed.frames[i].at);
  }
  return placed;
}

}  // namespace offcpud
