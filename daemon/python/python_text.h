// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "python/python_layout.h"

namespace offcpud {

// Where the characters of a Python str are, read from the first bytes of the object, which are
// untrusted.
struct PythonText {
  std::uint64_t length = 0;  // characters
  std::uint32_t width = 1;   // bytes of each: 1, 2 or 4
  std::uint32_t offset = 0;  // of the first one, in the object

  // Nothing: it is no str whose characters follow its head (PyASCIIObject, PyCompactUnicodeObject).
  // In names they always do.
  static std::optional<PythonText> read(const PythonLayout& layout,
                                        std::span<const std::byte> object);
};

// Converts characters of this width to UTF-8. A value that is no character becomes U+FFFD. Leaves
// out bytes at the end that are no whole character.
std::string python_characters(std::span<const std::byte> bytes, std::uint32_t width);

// The name under which a function is shown, with the last two parts of its path: "Shop.pay
// (shop/till.py)". It is valid UTF-8 without control characters.
std::string python_function_name(std::string_view function, std::string_view path);

}  // namespace offcpud
