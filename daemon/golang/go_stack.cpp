// SPDX-License-Identifier: Apache-2.0
#include "golang/go_stack.h"

#include "golang/go_layout.h"
#include "reader/memory_words.h"

namespace offcpud {

GoStack walk_go_stack(GoFunctions& functions, std::uint64_t instruction,
                      std::span<const std::byte> stack, std::uint64_t room) {
  GoStack walked;
  std::uint64_t offset = 0;
  // A return address may be that of the next function; the call is before it.
  for (std::uint64_t at = instruction;; at = value_at<std::uint64_t>(stack, offset - kGoWord) - 1) {
    const GoFunctions::Place place = functions.find(at);
    if (!place.is_known) return walked;
    if (place.is_root) {
      walked.end = GoStack::End::Root;
      return walked;
    }
    walked.functions.push_back(place.function);
    if (place.depth < 0) return walked;
    offset += static_cast<std::uint64_t>(place.depth) + kGoWord;
    if (offset > room) return walked;
    const bool is_deep = walked.functions.size() == GoStack::kMostFrames;
    if (is_deep || offset > GoStack::kMostBytes) {
      walked.end = GoStack::End::Depth;
      return walked;
    }
    if (offset > stack.size()) {
      walked.end = GoStack::End::More;
      return walked;
    }
  }
}

}  // namespace offcpud
