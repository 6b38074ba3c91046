// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// The mounts that a process sees, and whether each file system answers by itself or waits for a
// server or a process that may never answer. Immutable.
class MountTable {
 public:
  // Parses the text of /proc/PID/mountinfo. Ignores malformed lines.
  static MountTable parse(std::string_view mountinfo);

  // Local: a type known to wait only for this host's memory and disks. Remote: a type known to wait
  // for something else. Other: neither is known, as with overlayfs, which depends on its layers.
  // Unknown: there is no such mount.
  enum class Answer { Local, Remote, Other, Unknown };

  // By the number of a mount (statx: stx_mnt_id).
  [[nodiscard]] Answer of_mount(std::uint64_t mount_id) const;

  // By absolute path in the root of that process. It compares names of mount points only, so it
  // touches no file system.
  [[nodiscard]] Answer of_path(std::string_view path) const;

  // Whether this mount is overlayfs with all layers on local mounts. `layers`: the mounts by which
  // the paths of the layers are looked up. It relies on the text of the mount options, which can be
  // trusted only if an administrator mounted it. Layers with relative paths are assumed to lie
  // beside the others, where container runtimes put them.
  [[nodiscard]] bool is_local_overlay(std::uint64_t mount_id, const MountTable& layers) const;

 private:
  struct Mount {
    std::uint64_t id = 0;
    std::string point;
    Answer answer = Answer::Other;
    std::string layers;  // options of overlayfs, otherwise empty
  };
  [[nodiscard]] const Mount* find(std::uint64_t mount_id) const;

  std::vector<Mount> mounts_;
};

}  // namespace offcpud
