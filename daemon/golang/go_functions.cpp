// SPDX-License-Identifier: Apache-2.0
#include "golang/go_functions.h"

#include <string_view>

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
  if (places_.size() == kMostPlaces) places_.clear();
  return places_.emplace(address, look(address)).first->second;
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
  for (GoStackDepths depths(table_, *function); depths.next();) {
    if (linked >= depths.end()) continue;
    place.depth = depths.depth();
    break;
  }
  return place;
}

std::uint32_t GoFunctions::function_of(const GoFunction& function) {
  const auto known = functions_.find(function.begin);
  if (known != functions_.end()) return known->second;
  if (names_.size() == kMostNames) return 0;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(function.name.empty() ? kLeftOut : shown_name(function.name));
  functions_.emplace(function.begin, number);
  return number;
}

}  // namespace offcpud
