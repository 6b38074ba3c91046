// SPDX-License-Identifier: Apache-2.0
#include "pipeline/removed_paths.h"

namespace offcpud {

void RemovedPaths::note(const std::string& path, MonotonicTime now) {
  if (folded_.contains(path) || !lingering_.try_emplace(path, now).second) return;
  by_time_.emplace(now, path);
}

void RemovedPaths::revive(const std::string& path) {
  folded_.erase(path);
  const auto found = lingering_.find(path);
  if (found == lingering_.end()) return;
  by_time_.erase(std::pair(found->second, path));
  lingering_.erase(found);
}

void RemovedPaths::set_folded(const std::string& path, MonotonicTime now) {
  revive(path);
  folded_.emplace(path, now);
}

void RemovedPaths::forget_folded(MonotonicTime before) {
  std::erase_if(folded_, [before](const auto& item) { return item.second < before; });
}

bool RemovedPaths::is_folded(std::string_view path) const {
  return folded_.contains(path);
}

const std::string* RemovedPaths::longest(std::string_view except) const {
  auto first = by_time_.begin();
  if (first != by_time_.end() && first->second == except) ++first;
  return first == by_time_.end() ? nullptr : &first->second;
}

std::vector<std::string> RemovedPaths::lingering_since(MonotonicTime before) const {
  std::vector<std::string> paths;
  for (const auto& [since, path] : by_time_) {
    if (since > before) break;
    paths.push_back(path);
  }
  return paths;
}

}  // namespace offcpud
