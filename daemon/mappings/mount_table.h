// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// The mounts that a process sees, as far as it matters here: whether a file system answers by
// itself or waits for somebody else, a server or a process, who may never answer. Immutable.
class MountTable {
 public:
  // From the text of /proc/PID/mountinfo. Lines that make no sense are left out.
  static MountTable parse(std::string_view mountinfo);

  // Local: of a type that is known to wait for nothing but this host's memory and disks. Remote: of
  // one that is known to wait for somebody else. Other: neither is known, as of overlayfs, which
  // depends on what is below. Unknown: there is no such mount.
  enum class Answer { Local, Remote, Other, Unknown };

  // Of the mount with this number (statx: stx_mnt_id).
  [[nodiscard]] Answer of_mount(std::uint64_t mount_id) const;

  // Of the file at an absolute path in the root of that process, going by the names of the mount
  // points alone, so that nothing has to be touched.
  [[nodiscard]] Answer of_path(std::string_view path) const;

  // Whether this mount is of overlayfs with layers that all lie on local mounts of `layers`. Goes
  // by the text of the options, which is to be believed only where an administrator mounted it:
  // layers whose paths are relative are taken to lie beside the others, as container runtimes put
  // them.
  [[nodiscard]] bool is_local_overlay(std::uint64_t mount_id, const MountTable& layers) const;

 private:
  struct Mount {
    std::uint64_t id = 0;
    std::string point;
    Answer answer = Answer::Other;
    std::string layers;  // options of overlayfs, else empty
  };
  [[nodiscard]] const Mount* find(std::uint64_t mount_id) const;

  std::vector<Mount> mounts_;
};

}  // namespace offcpud
