// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_request.h"

#include <string_view>

namespace offcpud {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// RFC 3986, section 2.1.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c)) {
      out += c;
    } else {
      out.append(1, '%').append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 0xf]);
    }
  }
  return out;
}

}  // namespace

std::string TopRequest::path() const {
  std::string path = "/api/v1/top";
  const auto add = [&](std::string_view name, std::string_view value) {
    path.append(path.find('?') == std::string::npos ? "?" : "&").append(name).append("=");
    path.append(percent_encoded(value));
  };
  if (threads) add("threads", "true");
  if (pinned && threads) add("pinned", "true");
  if (cpu && threads) add("cpu", std::to_string(*cpu));
  if (pid) add("pid", std::to_string(*pid));
  if (!filter.empty()) add("filter", filter);
  if (!sort.empty()) add("sort", sort);
  if (reverse) add("reverse", "true");
  if (limit) add("limit", std::to_string(*limit));
  return path;
}

}  // namespace offcpud
