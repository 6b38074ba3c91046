// SPDX-License-Identifier: Apache-2.0
#include "sites/place_crowds.h"

namespace offcpud {
namespace {

constexpr double kLeastHeld = 0.8;

}  // namespace

void PlaceCrowds::add(std::uint32_t tgid, std::uint64_t place, std::uint32_t tid, double ns) {
  Crowd& crowd = crowds_[{tgid, place}];
  crowd.threads.insert(tid);
  crowd.waited_ns += ns;
}

bool PlaceCrowds::may_hold(std::uint32_t tgid, std::uint64_t place,
                           std::chrono::nanoseconds window) const {
  const auto found = crowds_.find({tgid, place});
  if (found == crowds_.end()) return true;
  const Crowd& crowd = found->second;
  const auto threads = static_cast<double>(crowd.threads.size());
  const double elsewhere_ns = threads * static_cast<double>(window.count()) - crowd.waited_ns;
  return elsewhere_ns >= kLeastHeld * crowd.waited_ns / threads;
}

}  // namespace offcpud
