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

// A str of Python, as the first bytes of the object say: where its characters are. The bytes are
// untrusted.
struct PythonText {
  std::uint64_t length = 0;  // characters
  std::uint32_t width = 1;   // bytes of each: 1, 2 or 4
  std::uint32_t offset = 0;  // of the first one, in the object

  // Nothing: it is no str whose characters follow its head (PyASCIIObject, PyCompactUnicodeObject),
  // as those of names do.
  static std::optional<PythonText> read(const PythonLayout& layout,
                                        std::span<const std::byte> object);
};

// Characters of this width as UTF-8; what is no character becomes U+FFFD. Leaves out bytes that are
// no whole character.
std::string python_characters(std::span<const std::byte> bytes, std::uint32_t width);

// How a function is shown: "Shop.pay (shop/till.py)", with the last two parts of the path. Valid
// UTF-8 without control characters.
std::string python_function_name(std::string_view function, std::string_view path);

}  // namespace offcpud
