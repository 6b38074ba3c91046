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

// Cgroups nested deeper than this get no name: a user with a delegated subtree could nest without
// end, and the paths' total length grows with the square of the depth.
inline constexpr std::size_t kMaxCgroupDepth = 64;

struct FoundCgroup {
  std::uint64_t id = 0;         // inode number of the directory
  std::uint64_t parent_id = 0;  // 0 for the root
  std::string path;             // "/" or "/a/b"
};

// Result of one walk of the hierarchy.
struct CgroupWalk {
  std::vector<FoundCgroup> found;   // parents before their children
  std::vector<std::string> unread;  // paths below which the walk may have missed cgroups
};

// Path of the cgroup `name` below `parent`. An invalid UTF-8 name cannot be a label; made valid, it
// could equal another cgroup's. So "//" and the id are appended to it, which no path of valid names
// contains: two cgroups never share a path.
std::string child_path(std::string_view parent, std::string_view name, std::uint64_t id);

// Number of names in `path`; 0 for "/".
std::size_t cgroup_depth(std::string_view path);

// Walks the hierarchy mounted at `root`, without following symbolic links or entering other file
// systems. Leaves out directories that vanish meanwhile. Error: the root itself cannot be read.
Result<CgroupWalk> walk_cgroups(const std::filesystem::path& root);

}  // namespace offcpud
