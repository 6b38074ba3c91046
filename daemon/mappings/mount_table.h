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

  enum class Answer { Local, Remote, Unknown };

  // Of the mount with this number (statx: stx_mnt_id).
  [[nodiscard]] Answer of_mount(std::uint64_t mount_id) const;

  // Of the file at an absolute path in the root of that process, going by the names of the mount
  // points alone, so that nothing has to be touched.
  [[nodiscard]] Answer of_path(std::string_view path) const;

 private:
  struct Mount {
    std::uint64_t id = 0;
    std::string point;
    bool remote = false;
  };
  std::vector<Mount> mounts_;
};

}  // namespace offcpud
