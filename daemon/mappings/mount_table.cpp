// SPDX-License-Identifier: Apache-2.0
#include "mappings/mount_table.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace offcpud {
namespace {

// FUSE belongs to whoever mounted it, even an unprivileged user. virtiofs is the host of a virtual
// machine and as near as its disk.
bool is_remote(std::string_view type) {
  static constexpr std::array<std::string_view, 17> kTypes = {
      "nfs",    "nfs4", "cifs", "smb3", "smbfs",    "ceph", "fuse",   "fuseblk", "9p",
      "autofs", "afs",  "coda", "gfs2", "orangefs", "gpfs", "lustre", "ocfs2"};
  return type.starts_with("fuse.") || std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

std::string_view take_word(std::string_view& text) {
  const std::size_t size = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return word;
}

// Blanks, tabs, line feeds and backslashes are written as \ and three octal digits.
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

bool lies_below(std::string_view path, std::string_view point) {
  if (point == "/") return true;
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

MountTable MountTable::parse(std::string_view mountinfo) {
  MountTable table;
  while (!mountinfo.empty()) {
    const std::size_t size = std::min(mountinfo.find('\n'), mountinfo.size());
    std::string_view line = mountinfo.substr(0, size);
    mountinfo.remove_prefix(std::min(size + 1, mountinfo.size()));

    Mount mount;
    const std::string_view id = take_word(line);
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), mount.id);
    if (error != std::errc() || end != id.data() + id.size()) continue;
    (void)take_word(line);  // parent
    (void)take_word(line);  // device
    (void)take_word(line);  // root of the mount
    mount.point = unescaped(take_word(line));
    while (!line.empty() && take_word(line) != "-") {
    }
    const std::string_view type = take_word(line);
    if (mount.point.empty() || type.empty()) continue;
    mount.remote = is_remote(type);
    table.mounts_.push_back(std::move(mount));
  }
  return table;
}

MountTable::Answer MountTable::of_mount(std::uint64_t mount_id) const {
  const auto found = std::find_if(mounts_.begin(), mounts_.end(),
                                  [mount_id](const Mount& mount) { return mount.id == mount_id; });
  if (found == mounts_.end()) return Answer::Unknown;
  return found->remote ? Answer::Remote : Answer::Local;
}

MountTable::Answer MountTable::of_path(std::string_view path) const {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts_) {
    // Of two mounts on the same point the later one covers the earlier one.
    const bool deeper = best == nullptr || mount.point.size() >= best->point.size();
    if (deeper && lies_below(path, mount.point)) best = &mount;
  }
  if (best == nullptr) return Answer::Unknown;
  return best->remote ? Answer::Remote : Answer::Local;
}

}  // namespace offcpud
