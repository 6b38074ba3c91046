// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "attribution/cgroup_directory.h"

namespace offcpud {

// Paths of the cgroups whose blocks an interval contains, looked up at the first block of each. So
// they stay known as long as the interval lasts, which may be longer than the directory remembers a
// removed cgroup. Used by one thread at a time.
class CgroupPaths {
 public:
  explicit CgroupPaths(std::shared_ptr<const CgroupDirectory> directory)
      : directory_(std::move(directory)) {}

  // Stores the path of this cgroup, now or, if the directory does not know it yet, in retry().
  void add(std::uint64_t id) {
    if (!paths_.contains(id) && !missing_.contains(id) && !keep(id)) missing_.insert(id);
  }

  // Asks the directory again for unknown paths. The kernel reports new cgroups by another way than
  // blocks, perhaps later, so call it often.
  void retry() {
    std::erase_if(missing_, [this](std::uint64_t id) { return keep(id); });
  }

  // The path, or the label that says why it is unknown (CgroupDirectory::path_of).
  [[nodiscard]] std::string path_of(std::uint64_t id) const {
    const auto found = paths_.find(id);
    return found == paths_.end() ? directory_->path_of(id) : found->second;
  }

 private:
  bool keep(std::uint64_t id) {
    auto path = directory_->find(id);
    return path && paths_.try_emplace(id, *std::move(path)).second;
  }

  std::shared_ptr<const CgroupDirectory> directory_;
  std::unordered_map<std::uint64_t, std::string> paths_;
  std::unordered_set<std::uint64_t> missing_;
};

}  // namespace offcpud
