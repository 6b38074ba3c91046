// SPDX-License-Identifier: Apache-2.0
#include "pipeline/loss_watch.h"

#include <utility>

#include "base/lost_cause.h"

namespace offcpud {

std::vector<LossCount> LossWatch::grown(const std::vector<LossCount>& losses) {
  std::vector<LossCount> more;
  for (const LossCount& loss : losses) {
    if (!is_lost(loss.cause)) continue;
    if (std::exchange(last_[loss.cause], loss.events) < loss.events) more.push_back(loss);
  }
  return more;
}

}  // namespace offcpud
