// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace offcpud {

// The object of functions that CPython runs, whose names have their file: "Shop.pay (till.py)".
inline constexpr std::string_view kInterpretedObject = "[python]";

// Such a name in two parts. They are views of the whole name, which must outlive them.
struct InterpretedName {
  std::string_view function;  // "Shop.pay"
  std::string_view file;      // the last parts of its path, "shop/till.py"; empty: not known
};

// Names of functions have no spaces unless a program makes them up; paths may have some.
constexpr InterpretedName interpreted_name(std::string_view shown) {
  constexpr std::string_view kBefore = " (";
  const std::size_t at = shown.find(kBefore);
  if (at == std::string_view::npos || !shown.ends_with(')')) return {.function = shown, .file = {}};
  const std::size_t file = at + kBefore.size();
  return {.function = shown.substr(0, at), .file = shown.substr(file, shown.size() - 1 - file)};
}
static_assert(interpreted_name("Shop.pay (my shop/till.py)").function == "Shop.pay");
static_assert(interpreted_name("Shop.pay (my shop/till.py)").file == "my shop/till.py");
static_assert(interpreted_name("[python]").file.empty());

}  // namespace offcpud
