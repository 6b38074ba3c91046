// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "holders/lock_holder.h"
#include "sampler/window_paths.h"

namespace offcpud {

// Sums what was seen of locks without a holder, by cgroup; GILs apart from other locks.
class UnheldSums {
 public:
  void add(std::uint64_t cgroup_id, bool is_gil, LockLook look) {
    UnheldWaits& sum = sums_[{cgroup_id, is_gil}];
    switch (look) {
      case LockLook::NamesNobody:
        ++sum.names_nobody;
        break;
      case LockLook::ChangesHands:
        ++sum.changes_hands;
        break;
      case LockLook::SeenOnce:
        ++sum.seen_once;
        break;
      case LockLook::NoSingleHolder:
        ++sum.no_single_holder;
        break;
    }
  }
  std::vector<UnheldWaits> by_path(WindowPaths& paths) {
    std::vector<UnheldWaits> rows;
    for (auto& [key, sum] : sums_) {
      sum.cgroup = paths.of(key.first);
      sum.is_gil = key.second;
      rows.push_back(std::move(sum));
    }
    return rows;
  }

 private:
  std::map<std::pair<std::uint64_t, bool>, UnheldWaits> sums_;  // by cgroup, and if of the GIL
};

}  // namespace offcpud
