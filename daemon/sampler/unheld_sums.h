// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "holders/lock_holder.h"
#include "sampler/window_paths.h"

namespace offcpud {

// What was seen of locks without a holder, by cgroup.
class UnheldSums {
 public:
  void add(std::uint64_t cgroup_id, LockLook look) {
    UnheldWaits& sum = sums_[cgroup_id];
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
    for (auto& [cgroup_id, sum] : sums_) {
      sum.cgroup = paths.of(cgroup_id);
      rows.push_back(std::move(sum));
    }
    return rows;
  }

 private:
  std::map<std::uint64_t, UnheldWaits> sums_;
};

}  // namespace offcpud
