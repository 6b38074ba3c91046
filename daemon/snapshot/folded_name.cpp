// SPDX-License-Identifier: Apache-2.0
#include "snapshot/folded_name.h"

#include "base/text.h"
#include "base/utf8_prefix.h"

namespace offcpud {
namespace {

constexpr std::string_view kEllipsis = "...";

// Whether a character of valid UTF-8 is white space beyond ASCII in the sense of Perl's \s, a
// control character of U+0080 to U+009F, or a mark that changes the direction of text.
bool is_special_beyond_ascii(std::string_view character) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return at(0) == 0xc2 && at(1) <= 0xa0;  // U+0080 to U+00A0
  if (character.size() != 3) return false;
  const unsigned code = ((at(0) & 0x0fU) << 12U) | ((at(1) & 0x3fU) << 6U) | (at(2) & 0x3fU);
  return code == 0x1680 || (code >= 0x2000 && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202f) || (code >= 0x205f && code <= 0x206f) ||
         code == 0x3000 || code == 0xfeff;
}

bool may_follow_space(char c) {
  return c > ' ' && c < 0x7f && (c < '0' || c > '9') && c != ';';
}

void shorten(std::string& name) {
  if (name.size() <= kMostFoldedNameBytes) return;
  std::size_t end = utf8_prefix(name, kMostFoldedNameBytes - kEllipsis.size()).size();
  while (end > 0 && name[end - 1] == ' ') --end;
  name.resize(end);
  name += kEllipsis;
}

}  // namespace

std::string folded_name(std::string_view name) {
  const std::string text = to_valid_utf8(name);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const std::string_view character = rest.substr(0, first_character_bytes(rest));
    const char first = character.front();
    i += character.size();
    if (first == ';') {
      out += ':';
    } else if (first == ' ') {
      const bool inside = !out.empty() && i < text.size() && may_follow_space(text[i]);
      out += inside ? ' ' : '_';
    } else if (first == '\x7f' || (first >= 0 && first < ' ') ||
               is_special_beyond_ascii(character)) {
      out += '_';
    } else {
      out += character;
    }
  }
  shorten(out);
  if (out.empty()) return "[unknown]";
  return out == "-" || out == "--" ? "_" + out : out;
}

}  // namespace offcpud
