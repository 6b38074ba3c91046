// SPDX-License-Identifier: Apache-2.0
#include "python/python_text.h"

#include <cstring>

#include "symbols/demangle.h"

namespace offcpud {
namespace {

constexpr std::size_t kLength = 16, kState = 32;
constexpr std::uint32_t kReplacement = 0xfffd;

void append_utf8(std::string& text, std::uint32_t character) {
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  if (is_surrogate || character > 0x10ffff) character = kReplacement;
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0U | character >> 6U);
    put(0x80U | (character & 0x3fU));
  } else if (character < 0x10000) {
    put(0xe0U | character >> 12U);
    put(0x80U | (character >> 6U & 0x3fU));
    put(0x80U | (character & 0x3fU));
  } else {
    put(0xf0U | character >> 18U);
    put(0x80U | (character >> 12U & 0x3fU));
    put(0x80U | (character >> 6U & 0x3fU));
    put(0x80U | (character & 0x3fU));
  }
}

// The last two parts of a path: many files are called __init__.py.
std::string_view last_parts(std::string_view path) {
  const std::size_t last = path.find_last_of('/');
  if (last == std::string_view::npos || last == 0) return path.substr(last == 0 ? 1 : 0);
  const std::size_t before = path.find_last_of('/', last - 1);
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

}  // namespace

std::optional<PythonText> PythonText::read(const PythonLayout& layout,
                                           std::span<const std::byte> object) {
  PythonText text;
  std::uint32_t state = 0;
  if (object.size() < kState + sizeof(state)) return std::nullopt;
  std::memcpy(&text.length, object.data() + kLength, sizeof(text.length));
  std::memcpy(&state, object.data() + kState, sizeof(state));
  // interned:2, kind:3, compact:1, ascii:1
  text.width = state >> 2U & 7U;
  const bool is_compact = (state >> 5U & 1U) != 0, is_ascii = (state >> 6U & 1U) != 0;
  const bool is_width = text.width == 1 || text.width == 2 || text.width == 4;
  if (!is_compact || !is_width || (is_ascii && text.width != 1)) return std::nullopt;
  text.offset = is_ascii ? layout.ascii : layout.compact;
  return text;
}

std::string python_characters(std::span<const std::byte> bytes, std::uint32_t width) {
  std::string text;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint32_t character = 0;
    std::memcpy(&character, bytes.data() + at, width);  // little-endian, as x86-64 is
    append_utf8(text, character);
  }
  return text;
}

std::string python_function_name(std::string_view function, std::string_view path) {
  std::string name(function);
  if (!path.empty()) name.append(" (").append(last_parts(path)).append(")");
  return shown_name(name);
}

}  // namespace offcpud
