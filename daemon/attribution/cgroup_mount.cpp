// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_mount.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/mount_line.h"

namespace offcpud {
namespace {

struct Mount {
  std::string point;
  bool whole = false;  // shows the root of the hierarchy, not a part of it

  // The better mount is less.
  friend bool operator<(const Mount& a, const Mount& b) {
    return std::pair(!a.whole, a.point.size()) < std::pair(!b.whole, b.point.size());
  }
};

}  // namespace

std::optional<std::filesystem::path> cgroup2_mount(std::string_view mountinfo) {
  std::optional<Mount> best;
  while (!mountinfo.empty()) {
    auto line = take_mount_line(mountinfo);
    if (!line || line->type != "cgroup2" || !line->point.starts_with('/')) continue;
    Mount mount{.point = std::move(line->point), .whole = line->root == "/"};
    if (!best || mount < *best) best = std::move(mount);
  }
  if (!best) return std::nullopt;
  return best->point;
}

}  // namespace offcpud
