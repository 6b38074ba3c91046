// SPDX-License-Identifier: Apache-2.0
#include "cli/query_path.h"

namespace offcpud {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c)) {
      out += c;
    } else {
      out.append(1, '%').append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 0xf]);
    }
  }
}

}  // namespace

std::string query_path(std::string_view path, const QueryParameters& parameters) {
  std::string out(path);
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    out.append(1, separator).append(name).append(1, '=');
    append_encoded(out, value);
    separator = '&';
  }
  return out;
}

}  // namespace offcpud
