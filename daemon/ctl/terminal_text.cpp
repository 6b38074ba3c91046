// SPDX-License-Identifier: Apache-2.0
#include "ctl/terminal_text.h"

#include <chrono>
#include <cwchar>
#include <vector>

#include "base/duration_text.h"
#include "ctl/locale_signs.h"

namespace offcpud {
namespace {

struct Character {
  std::string_view bytes;
  std::size_t width;  // 0: must not be shown
};

Character next_character(std::string_view text) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t length = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (length == 0 || length > text.size()) return {text.substr(0, 1), 0};
  const int width = ::wcwidth(wide);
  return {text.substr(0, length), width > 0 ? static_cast<std::size_t>(width) : 0};
}

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> all;
  while (!text.empty()) {
    all.push_back(next_character(text));
    text.remove_prefix(all.back().bytes.size());
  }
  return all;
}

constexpr char kCutMark = '~';

std::string cut_end(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t used = 0;
  for (const Character& character : characters(text)) {
    if (used + character.width > width - 1) break;
    out += character.bytes;
    used += character.width;
  }
  return out.append(width - 1 - used, ' ') + kCutMark;
}

std::string cut_beginning(std::string_view text, std::size_t width) {
  std::size_t over = terminal_width(text);
  for (const Character& character : characters(text)) {
    if (over <= width - 1) break;
    over -= character.width;
    text.remove_prefix(character.bytes.size());
  }
  return kCutMark + std::string(width - 1 - over, ' ') + std::string(text);
}

}  // namespace

std::string terminal_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const Character& character : characters(text)) {
    if (character.width > 0) {
      out += character.bytes;
      continue;
    }
    for (const char c : character.bytes) {
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 0xf]);
    }
  }
  return out;
}

std::size_t terminal_width(std::string_view text) {
  std::size_t width = 0;
  for (const Character& character : characters(text)) width += character.width;
  return width;
}

std::string fitted(std::string_view text, std::size_t width, Align align) {
  if (width == 0) return {};
  const std::size_t has = terminal_width(text);
  if (has > width) return align == Align::Left ? cut_end(text, width) : cut_beginning(text, width);
  const std::string blanks(width - has, ' ');
  return align == Align::Left ? std::string(text) + blanks : blanks + std::string(text);
}

std::string duration_cell(double seconds) {
  if (!(seconds > 0)) return "-";
  return for_locale(duration_text(std::chrono::duration<double>(seconds)));
}

std::string age_cell(double seconds, bool estimated) {
  return (estimated ? "~" : "") + duration_cell(seconds);
}

}  // namespace offcpud
