// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// An inode as identified in /proc/PID/maps: with the file system's own device numbers, which differ
// from those of stat() on btrfs and overlayfs. Valid while some process maps the file.
struct InodeId {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;  // 0: no file

  [[nodiscard]] bool known() const { return inode != 0; }
  bool operator==(const InodeId&) const = default;
};

}  // namespace offcpud
