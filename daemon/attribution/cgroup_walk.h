// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

// Deeper cgroups are not named: a user with a delegated subtree may nest without end, and the
// lengths of the paths would grow with the square of the depth.
inline constexpr std::size_t kMaxCgroupDepth = 64;

struct FoundCgroup {
  std::uint64_t id = 0;         // inode number of the directory
  std::uint64_t parent_id = 0;  // 0 for the root
  std::string path;             // "/" or "/a/b"
};

// What one walk of the hierarchy saw.
struct CgroupWalk {
  std::vector<FoundCgroup> found;   // parents before their children
  std::vector<std::string> unread;  // paths below which cgroups may exist that were not seen
};

// Path of the cgroup `name` below `parent`. A name that is no valid UTF-8 cannot be a label as it
// is; cleaned, it could be the same as another one's. Then "//" and the id follow, which no path of
// valid names contains, so that two cgroups never share a path.
std::string child_path(std::string_view parent, std::string_view name, std::uint64_t id);

// Number of names in `path`; 0 for "/".
std::size_t cgroup_depth(std::string_view path);

// Walks the hierarchy mounted at `root`, without following symbolic links or crossing into other
// file systems. What vanishes meanwhile is left out. Error: the root itself cannot be read.
Result<CgroupWalk> walk_cgroups(const std::filesystem::path& root);

}  // namespace offcpud
