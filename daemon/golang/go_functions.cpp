// SPDX-License-Identifier: Apache-2.0
#include "golang/go_functions.h"

#include <string_view>
#include <utility>

#include "symbols/demangle.h"

namespace offcpud {
namespace {

// Where goroutines and threads begin: src/runtime/asm_amd64.s.
bool is_root(std::string_view name) {
  return name == "runtime.goexit" || name == "runtime.mstart" || name == "runtime.rt0_go";
}

}  // namespace

GoFunctions::Place GoFunctions::find(std::uint64_t address) {
  const auto known = places_.find(address);
  if (known != places_.end()) return known->second;
  const Place place = look(address);
  if (steps_ == 0) return place;  // more may be found next time
  if (places_.size() >= limits_.places) places_.clear();
  return places_.emplace(address, place).first->second;
}

GoFunctions::Place GoFunctions::look(std::uint64_t address) {
  const std::uint64_t linked = address - bias_;
  const auto function = table_.find(linked);
  if (!function) return {};
  Place place{.is_known = true,
              .is_root = is_root(function->name),
              .function = function_of(*function),
              .depth = -1};
  if (function->depth == 0) return place;
  for (GoStackDepths depths(table_, *function); steps_ > 0 && depths.next();) {
    --steps_;
    if (linked >= depths.end()) continue;
    place.depth = depths.depth();
    break;
  }
  return place;
}

std::uint32_t GoFunctions::function_of(const GoFunction& function) {
  const auto known = functions_.find(function.begin);
  if (known != functions_.end()) return known->second;
  constexpr std::size_t kEntries = 128;  // of the name in the list, and in the table
  std::string name = function.name.empty() ? kLeftOut : shown_name(function.name);
  if (name_bytes_ + name.size() + kEntries > limits_.name_bytes) return 0;
  name_bytes_ += name.size() + kEntries;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(std::move(name));
  functions_.emplace(function.begin, number);
  return number;
}

}  // namespace offcpud
