// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offcpud {

// A line of /proc/PID/mountinfo (proc(5)): "36 35 98:0 /root /point options [optional fields] -
// type source superoptions". The strings hold plain bytes; the file writes blanks, tabs, line feeds
// and backslashes as a backslash and three octal digits.
struct MountLine {
  std::uint64_t id = 0;     // of the mount
  std::string_view device;  // "98:0"
  std::string root, point;
  std::string_view type;
  std::string source, options;  // those of the file system
};

// Whether the source of mounts of this type names a server. Not FUSE: any user chooses its source.
bool has_server(std::string_view type);

// Takes the first line off `text`. nullopt: it is no such line.
std::optional<MountLine> take_mount_line(std::string_view& text);

}  // namespace offcpud
