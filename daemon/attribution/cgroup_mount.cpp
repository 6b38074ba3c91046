// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_mount.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace offcpud {
namespace {

// Removes the first field, which ends at `separator`, from `text` and returns it.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view field = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), field.size() + 1));
  return field;
}

// The kernel writes space, tab, newline and backslash as "\" and three octal digits.
std::string unescape_octal(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string bytes;
  while (!text.empty()) {
    const bool escape = text.size() >= 4 && text[0] == '\\' && text[1] <= '3' &&
                        std::all_of(text.begin() + 1, text.begin() + 4, is_octal);
    bytes += escape ? static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0')
                    : text.front();
    text.remove_prefix(escape ? 4 : 1);
  }
  return bytes;
}

struct Mount {
  std::string point;
  bool whole = false;  // shows the root of the hierarchy, not a part of it

  // The better mount is less.
  friend bool operator<(const Mount& a, const Mount& b) {
    return std::pair(!a.whole, a.point.size()) < std::pair(!b.whole, b.point.size());
  }
};

// Parses "36 35 98:0 /root /point options [optional fields] - fstype source superoptions".
std::optional<Mount> cgroup2_of(std::string_view line) {
  constexpr int kFieldsBeforeRoot = 3;
  for (int i = 0; i < kFieldsBeforeRoot; ++i) take(line, ' ');
  const std::string_view root = take(line, ' ');
  const std::string_view point = take(line, ' ');
  while (!line.empty() && take(line, ' ') != "-") {
  }
  if (take(line, ' ') != "cgroup2" || !point.starts_with('/')) return std::nullopt;
  return Mount{unescape_octal(point), root == "/"};
}

}  // namespace

std::optional<std::filesystem::path> cgroup2_mount(std::string_view mountinfo) {
  std::optional<Mount> best;
  while (!mountinfo.empty()) {
    auto mount = cgroup2_of(take(mountinfo, '\n'));
    if (mount && (!best || *mount < *best)) best = std::move(mount);
  }
  if (!best) return std::nullopt;
  return best->point;
}

}  // namespace offcpud
