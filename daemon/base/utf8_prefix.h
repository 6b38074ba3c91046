// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace offcpud {

// Whether a byte of UTF-8 belongs to a character that an earlier byte began.
constexpr bool continues_utf8(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

// The bytes of the first character of `text`, which is not empty.
constexpr std::size_t first_character_bytes(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && continues_utf8(text[bytes])) ++bytes;
  return bytes;
}

// The longest beginning of `text` that has at most `most` bytes and does not split a character.
// Text that is not UTF-8 may lose more.
constexpr std::string_view utf8_prefix(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && continues_utf8(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace offcpud
