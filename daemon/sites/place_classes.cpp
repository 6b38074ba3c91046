// SPDX-License-Identifier: Apache-2.0
#include "sites/place_classes.h"

#include <numeric>

namespace offcpud {

bool PlaceClasses::put(const ProcessPlace& at, const Times& times, MonotonicTime now) {
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  if (all <= 0) return true;
  if (said_.size() >= kMost && !said_.contains(at)) {
    std::erase_if(said_, [&](const auto& item) { return now - item.second.at > kKept; });
    if (said_.size() >= kMost) return false;
  }
  Said& said = said_[at];
  said.at = now;
  for (std::size_t i = 0; i < times.size(); ++i) said.shares[i] = times[i] / all;
  return true;
}

const PlaceClasses::Times* PlaceClasses::find(const ProcessPlace& at, MonotonicTime now) const {
  const auto found = said_.find(at);
  if (found == said_.end() || now - found->second.at > kKept) return nullptr;
  return &found->second.shares;
}

}  // namespace offcpud
