// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "attribution/cgroup_directory.h"
#include "support/temp_tree.h"

namespace offcpud::test {

// A directory of cgroups right below the root, by ids that no directory of a file system has.
class KnownCgroups {
 public:
  KnownCgroups(std::initializer_list<std::pair<std::uint64_t, std::string>> cgroups = {}) {
    (void)directory_->rescan(now_);
    for (const auto& [id, name] : cgroups) create(id, name);
  }

  void create(std::uint64_t id, const std::string& name) {
    directory_->apply({CgroupChange::Kind::Created, id, tree_.inode("."), name}, now_);
  }

  // Removes it, and lets so much time pass that the directory knows it no more.
  void forget(std::uint64_t id) {
    directory_->apply({CgroupChange::Kind::Removed, id, 0, ""}, now_);
    now_ += std::chrono::hours(1);
    directory_->forget_removed(now_);
  }

  [[nodiscard]] std::shared_ptr<const CgroupDirectory> directory() const { return directory_; }

 private:
  TempTree tree_;
  MonotonicTime now_{std::chrono::hours(1)};
  std::shared_ptr<CgroupDirectory> directory_ = std::make_shared<CgroupDirectory>(tree_.root());
};

}  // namespace offcpud::test
