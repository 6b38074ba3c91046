// SPDX-License-Identifier: Apache-2.0
#include "stacks/interpreted_stack.h"

#include <utility>

namespace offcpud {

std::size_t InterpretedStack::bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const InterpretedFrame& frame : frames) bytes += sizeof(frame) + frame.function.capacity();
  return bytes;
}

std::vector<StackFrame> with_interpreted(std::span<const StackFrame> user,
                                         const InterpretedStack* interpreted) {
  std::vector<StackFrame> shown;
  if (interpreted == nullptr) return {user.begin(), user.end()};
  shown.reserve(user.size() + interpreted->frames.size());
  auto next = interpreted->frames.begin();
  const auto end = interpreted->frames.end();
  const auto show = [&shown](const InterpretedFrame& frame) {
    StackFrame named;
    named.function = frame.function;
    named.object = kInterpretedObject;
    named.line = frame.line;
    shown.push_back(std::move(named));
  };
  for (std::uint32_t i = 0; i < user.size(); ++i) {
    bool is_replaced = interpreted->hidden_from <= i && i < interpreted->hidden_to;
    for (; next != end && next->at <= i; ++next) {
      show(*next);
      is_replaced = true;
    }
    if (!is_replaced) shown.push_back(user[i]);
  }
  for (; next != end; ++next) show(*next);
  return shown;
}

}  // namespace offcpud
