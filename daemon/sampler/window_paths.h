// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "stacks/cgroup_paths.h"

namespace offcpud {

// Paths of the cgroups of one window. Each is looked up once, so that all sums of the window agree
// even if the path of a cgroup becomes known meanwhile. Used by one thread.
class WindowPaths {
 public:
  // `cgroups` must outlive the object.
  explicit WindowPaths(const CgroupPaths& cgroups) : cgroups_(cgroups) {}

  // Valid as long as the object.
  const std::string& of(std::uint64_t cgroup_id) {
    const auto known = paths_.find(cgroup_id);
    if (known != paths_.end()) return known->second;
    return paths_.emplace(cgroup_id, cgroups_.path_of(cgroup_id)).first->second;
  }

 private:
  const CgroupPaths& cgroups_;
  std::unordered_map<std::uint64_t, std::string> paths_;
};

}  // namespace offcpud
