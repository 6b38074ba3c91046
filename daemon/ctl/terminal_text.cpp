// SPDX-License-Identifier: Apache-2.0
#include "ctl/terminal_text.h"

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

// The last characters that fit into this width.
std::string_view end_of(std::string_view text, std::size_t width) {
  std::size_t over = terminal_width(text);
  for (const Character& character : characters(text)) {
    if (over <= width) break;
    over -= character.width;
    text.remove_prefix(character.bytes.size());
  }
  return text;
}

std::string cut_beginning(std::string_view text, std::size_t width) {
  const std::string_view end = end_of(text, width - 1);
  return kCutMark + std::string(width - 1 - terminal_width(end), ' ') + std::string(end);
}

// At least as much of the beginning stays as of the end.
std::string cut_middle(std::string_view text, std::size_t width) {
  const std::string_view end = end_of(text, (width - 1) / 2);
  const std::size_t room = width - 1 - terminal_width(end);
  std::string out;
  std::size_t used = 0;
  for (const Character& character : characters(text)) {
    if (used + character.width > room) break;
    out += character.bytes;
    used += character.width;
  }
  return (out + kCutMark).append(end).append(room - used, ' ');
}

// The end of most units, which tells none from another, goes first.
std::string cut_name(std::string_view name, std::size_t width) {
  constexpr std::string_view kUsualEnd = ".service";
  if (!name.ends_with(kUsualEnd)) return cut_middle(name, width);
  name.remove_suffix(kUsualEnd.size());
  const std::size_t has = terminal_width(name);
  return has > width ? cut_middle(name, width) : std::string(name).append(width - has, ' ');
}

std::string cut(std::string_view text, std::size_t width, Align align) {
  switch (align) {
    case Align::Left:
      return cut_end(text, width);
    case Align::Right:
      return cut_beginning(text, width);
    case Align::Name:
      break;
  }
  return cut_name(text, width);
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
  if (has > width) return cut(text, width, align);
  const std::string blanks(width - has, ' ');
  return align == Align::Right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::string duration_cell(double seconds) {
  if (!(seconds > 0)) return "-";
  return for_locale(duration_text(seconds));
}

std::string age_cell(double seconds, bool estimated) {
  return (estimated ? "~" : "") + duration_cell(seconds);
}

}  // namespace offcpud
