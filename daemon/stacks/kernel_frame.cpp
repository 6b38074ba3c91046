// SPDX-License-Identifier: Apache-2.0
#include "stacks/kernel_frame.h"

#include <charconv>

#include "base/text.h"

namespace offcpud {
namespace {

// Parses the hexadecimal number after "0x".
std::uint64_t offset_of(std::string_view text) {
  std::uint64_t offset = 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  // Remains 0 if there is no number.
  std::from_chars(text.data(), text.data() + text.size(), offset, 16);
  return offset;
}

// The name after "[". A build-id may follow it, and it may be truncated.
std::string object_of(std::string_view module) {
  const std::string_view name = module.substr(0, module.find_first_of(" ]"));
  return name.empty() ? "[kernel]" : "[" + to_valid_utf8(name) + "]";
}

}  // namespace

StackFrame kernel_frame(std::string_view name) {
  StackFrame frame;
  frame.kernel = true;
  frame.object = "[kernel]";
  if (const std::size_t module = name.find(" ["); module != std::string_view::npos) {
    frame.object = object_of(name.substr(module + 2));
    name = name.substr(0, module);
  }
  const std::size_t plus = name.find('+');
  const std::string_view function = name.substr(0, plus);
  if (function.empty() || function.starts_with("0x")) {
    frame.function = "[unknown]";
  } else {
    frame.function = to_valid_utf8(function);
    if (plus != std::string_view::npos) frame.address = offset_of(name.substr(plus + 1));
  }
  return frame;
}

}  // namespace offcpud
