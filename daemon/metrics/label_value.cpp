// SPDX-License-Identifier: Apache-2.0
#include "metrics/label_value.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/printable.h"
#include "base/utf8_prefix.h"

namespace offcpud {
namespace {

constexpr std::string_view kBackslash = "\\x5c";

std::optional<unsigned> lower_hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

// True for text such as "\x1b" or "\x5c", which we could have written. Not for other escapes in
// names of units, "\x2d" and "\x20", which stay as systemd writes them.
bool looks_escaped(std::string_view text) {
  if (!text.starts_with("\\x") || text.size() < kBackslash.size()) return false;
  const auto high = lower_hex(text[2]), low = lower_hex(text[3]);
  if (!high || !low) return false;
  const unsigned byte = *high * 16 + *low;
  return byte < 0x20 || byte == 0x5c || byte >= 0x7f;
}

bool may_need_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || byte == '\\';
}

}  // namespace

void append_label_value(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const auto plain = std::ranges::find_if(value, may_need_escape) - value.begin();
    out.append(value.substr(0, static_cast<std::size_t>(plain)));
    value.remove_prefix(static_cast<std::size_t>(plain));
    if (value.empty()) return;
    std::size_t length = 1;
    if (value.front() == '\n') {
      out += '\n';
    } else if (value.front() == '\\') {
      out += looks_escaped(value) ? kBackslash : std::string_view("\\");
    } else {
      length = first_character_bytes(value);
      out += printable(value.substr(0, length));
    }
    value.remove_prefix(length);
  }
}

}  // namespace offcpud
