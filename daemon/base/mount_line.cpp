// SPDX-License-Identifier: Apache-2.0
#include "base/mount_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "base/text.h"

namespace offcpud {
namespace {

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    const bool escaped = text[i] == '\\' && digits.size() == 3 && error == std::errc() &&
                         end == digits.data() + 3 && value < 256;
    plain += escaped ? static_cast<char>(value) : text[i];
    if (escaped) i += 3;
  }
  return plain;
}

}  // namespace

bool has_server(std::string_view type) {
  static constexpr std::array<std::string_view, 6> kTypes = {"nfs",  "nfs4", "cifs",
                                                             "smb3", "ceph", "9p"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

std::optional<MountLine> take_mount_line(std::string_view& text) {
  std::string_view line = take_until(text, '\n');
  MountLine mount;
  const std::string_view id = take_until(line, ' ');
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), mount.id);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  (void)take_until(line, ' ');  // parent mount
  mount.device = take_until(line, ' ');
  mount.root = unescaped(take_until(line, ' '));
  mount.point = unescaped(take_until(line, ' '));
  while (!line.empty() && take_until(line, ' ') != "-") {
  }
  mount.type = take_until(line, ' ');
  if (mount.point.empty() || mount.type.empty()) return std::nullopt;
  mount.source = unescaped(take_until(line, ' '));
  mount.options = unescaped(line);
  return mount;
}

}  // namespace offcpud
