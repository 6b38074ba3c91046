// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace offcpud {

Utf8Sequence first_utf8_sequence(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};

  const std::size_t length = lead < 0xe0 ? 2 : (lead < 0xf0 ? 3 : 4);
  unsigned low = lead == 0xe0 ? 0xa0 : (lead == 0xf0 ? 0x90 : 0x80);
  unsigned high = lead == 0xed ? 0x9f : (lead == 0xf4 ? 0x8f : 0xbf);
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size() || at(i) < low || at(i) > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {length, true};
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Sequence sequence = first_utf8_sequence(bytes);
    text += sequence.valid ? bytes.substr(0, sequence.length) : "\xef\xbf\xbd";
    bytes.remove_prefix(sequence.length);
  }
  return text;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return {digits.data(), result.ptr};
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return part;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace offcpud
