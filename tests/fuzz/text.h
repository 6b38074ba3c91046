// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"

namespace offcpud::fuzz {

// Decodes every character (RFC 3629, section 3) instead of looking at ranges of bytes as the tree
// does.
inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1;
    if (more < 0 || lead > 0xf7) return false;
    std::uint32_t code = lead & (0x3fU >> more);
    for (int i = 0; i < more; ++i, ++at) {
      if (at == text.size() || (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80) return false;
      code = code << 6U | (static_cast<unsigned char>(text[at]) & 0x3fU);
    }
    constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}

// Of C0, and DEL; line feeds where they are `allowed`.
inline bool has_control_bytes(std::string_view text, std::string_view allowed = "") {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 || byte == 0x7f) && allowed.find(c) == std::string_view::npos) return true;
  }
  return false;
}

// Characters that a terminal or browser obeys instead of showing them, beside those: C1 (U+0080 to
// U+009F), and those that turn the direction of text (Unicode UAX #9). `text` is UTF-8.
inline bool has_invisible_orders(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = [&](std::size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    std::uint32_t code = 0;
    if (byte(0) >= 0xc2 && byte(0) < 0xe0) code = (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
    if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
      code = (byte(0) & 0xfU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
    }
    const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    if (turns || (code >= 0x80 && code < 0xa0)) return true;
  }
  return false;
}

// One line that a terminal shows as it is.
inline bool is_printable(std::string_view text, std::string_view allowed = "") {
  return is_utf8(text) && !has_control_bytes(text, allowed);
}

inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Of an input that is made of several: a length of two bytes, then so many, or what there is.
inline std::string_view take_text(ByteReader& reader) {
  const std::size_t size = reader.take<std::uint16_t>();
  return text_of(reader.take_bytes(std::min(size, reader.rest().size())));
}
inline std::string as_input(const std::vector<std::string>& texts) {
  std::string input;
  for (const std::string& text : texts) {
    input += static_cast<char>(text.size());
    input += static_cast<char>(text.size() >> 8U);
    input += text;
  }
  return input;
}

// What a file of this host holds; "" if it is not there.
inline std::string content_of(const std::string& path, std::size_t most = 64 << 10) {
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (content.size() > most) content.resize(most);
  return content;
}

}  // namespace offcpud::fuzz
