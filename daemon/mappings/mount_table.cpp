// SPDX-License-Identifier: Apache-2.0
#include "mappings/mount_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/mount_line.h"
#include "base/text.h"

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
  static constexpr std::array<std::string_view, 6> kRemote = {"smbfs",  "fuse", "fuseblk",
                                                              "autofs", "afs",  "coda"};
  static constexpr std::array<std::string_view, 22> kLocal = {
      "ext2",   "ext3",     "ext4",     "xfs",   "btrfs", "tmpfs",    "devtmpfs", "ramfs",
      "rootfs", "f2fs",     "squashfs", "erofs", "vfat",  "msdos",    "exfat",    "ntfs3",
      "zfs",    "bcachefs", "iso9660",  "udf",   "jfs",   "hugetlbfs"};
  if (has_server(type) || type.starts_with("fuse.") || type.starts_with("fuseblk.") ||
      contains(kRemote, type)) {
    return Answer::Remote;
  }
  return contains(kLocal, type) ? Answer::Local : Answer::Other;
}

bool lies_below(std::string_view path, std::string_view point) {
  if (point == "/") return true;
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

MountTable MountTable::parse(std::string_view mountinfo) {
  MountTable table;
  while (!mountinfo.empty()) {
    auto line = take_mount_line(mountinfo);
    if (!line) continue;
    table.mounts_.push_back({.id = line->id,
                             .point = std::move(line->point),
                             .answer = answer_of(line->type),
                             .layers = line->type == "overlay" ? std::move(line->options) : ""});
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
