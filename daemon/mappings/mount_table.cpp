// SPDX-License-Identifier: Apache-2.0
#include "mappings/mount_table.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace offcpud {
namespace {

template <std::size_t Size>
bool contains(const std::array<std::string_view, Size>& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// FUSE depends on the process of whoever mounted it, even an unprivileged user. virtiofs is in
// neither list: the host of a virtual machine is near, but still another machine.
MountTable::Answer answer_of(std::string_view type) {
  using Answer = MountTable::Answer;
  static constexpr std::array<std::string_view, 12> kRemote = {"nfs",   "nfs4",   "cifs", "smb3",
                                                               "smbfs", "ceph",   "fuse", "fuseblk",
                                                               "9p",    "autofs", "afs",  "coda"};
  static constexpr std::array<std::string_view, 22> kLocal = {
      "ext2",   "ext3",     "ext4",     "xfs",   "btrfs", "tmpfs",    "devtmpfs", "ramfs",
      "rootfs", "f2fs",     "squashfs", "erofs", "vfat",  "msdos",    "exfat",    "ntfs3",
      "zfs",    "bcachefs", "iso9660",  "udf",   "jfs",   "hugetlbfs"};
  if (type.starts_with("fuse.") || type.starts_with("fuseblk.") || contains(kRemote, type)) {
    return Answer::Remote;
  }
  return contains(kLocal, type) ? Answer::Local : Answer::Other;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return part;
}

std::string_view take_word(std::string_view& text) {
  return take_until(text, ' ');
}

// Replaces \ and three octal digits, which stand for blanks, tabs, line feeds and backslashes.
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
    (void)take_word(line);  // parent mount
    (void)take_word(line);  // device
    (void)take_word(line);  // root of the mount
    mount.point = unescaped(take_word(line));
    while (!line.empty() && take_word(line) != "-") {
    }
    const std::string_view type = take_word(line);
    if (mount.point.empty() || type.empty()) continue;
    mount.answer = answer_of(type);
    if (type == "overlay") {
      (void)take_word(line);  // source
      mount.layers = unescaped(line);
    }
    table.mounts_.push_back(std::move(mount));
  }
  return table;
}

const MountTable::Mount* MountTable::find(std::uint64_t mount_id) const {
  const auto found = std::find_if(mounts_.begin(), mounts_.end(),
                                  [mount_id](const Mount& mount) { return mount.id == mount_id; });
  return found == mounts_.end() ? nullptr : &*found;
}

MountTable::Answer MountTable::of_mount(std::uint64_t mount_id) const {
  const Mount* const mount = find(mount_id);
  return mount == nullptr ? Answer::Unknown : mount->answer;
}

MountTable::Answer MountTable::of_path(std::string_view path) const {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts_) {
    // Of two mounts on the same point, the later one hides the earlier one.
    const bool deeper = best == nullptr || mount.point.size() >= best->point.size();
    if (deeper && lies_below(path, mount.point)) best = &mount;
  }
  return best == nullptr ? Answer::Unknown : best->answer;
}

// Paths with an escaped comma or colon are not understood: then no layer counts as local.
bool MountTable::is_local_overlay(std::uint64_t mount_id, const MountTable& layers) const {
  const Mount* const mount = find(mount_id);
  if (mount == nullptr || mount->layers.find('\\') != std::string::npos) return false;
  std::size_t local = 0;
  std::string_view options = mount->layers;
  while (!options.empty()) {
    std::string_view option = take_until(options, ',');
    const std::string_view name = take_until(option, '=');
    if (name != "lowerdir" && name != "lowerdir+" && name != "datadir+" && name != "upperdir") {
      continue;
    }
    while (!option.empty()) {
      const std::string_view path = take_until(option, ':');
      if (!path.starts_with('/')) continue;
      if (layers.of_path(path) != Answer::Local) return false;
      ++local;
    }
  }
  return local > 0;
}

}  // namespace offcpud
