// SPDX-License-Identifier: Apache-2.0
#include "symbols/function_list.h"

#include <algorithm>
#include <limits>

namespace offcpud {

char* FunctionList::add_names(std::size_t size) {
  if (names_.size() + size >= limits_.name_bytes) return nullptr;
  return names_.grow(size);
}

bool FunctionList::add(std::uint64_t start, std::uint64_t size, std::size_t name, bool preferred) {
  if (functions_.size() >= limits_.ranges) return false;
  // A growing vector briefly exists twice. So a large one is reserved at once, which takes memory
  // only as far as it is used.
  constexpr std::size_t kLarge = 64 << 10;
  if (functions_.size() == kLarge) functions_.reserve(limits_.ranges);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  functions_.push_back({start, static_cast<std::uint32_t>(std::min(size, kMost)),
                        static_cast<std::uint32_t>(name) | (preferred ? kPreferred : 0)});
  return true;
}

bool FunctionList::add(std::uint64_t start, std::uint64_t size, std::string_view name,
                       bool preferred) {
  const std::size_t offset = names_.size();
  char* const place = add_names(name.size());
  if (place == nullptr) return false;
  std::ranges::copy(name, place);
  return add(start, size, offset, preferred);
}

void FunctionList::forget_since(const Mark& mark) {
  functions_.resize(mark.functions);
  names_.shrink(mark.name_bytes);
}

}  // namespace offcpud
