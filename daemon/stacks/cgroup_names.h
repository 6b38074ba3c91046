// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace offcpud {

// Paths of the cgroups that a window has met, told by the thread that knows them soon after: so
// they outlive their cgroups for as long as the window lasts. Thread-safe.
class CgroupNames {
 public:
  void add(std::uint64_t id, const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.try_emplace(id, path);
  }

  [[nodiscard]] std::optional<std::string> find(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = paths_.find(id);
    return found == paths_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::string> paths_;
};

}  // namespace offcpud
