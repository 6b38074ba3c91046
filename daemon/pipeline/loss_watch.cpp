// SPDX-License-Identifier: Apache-2.0
#include "pipeline/loss_watch.h"

#include <utility>

namespace offcpud {

std::vector<LossCount> LossWatch::grown(const std::vector<LossCount>& losses) {
  std::vector<LossCount> more;
  for (const LossCount& loss : losses) {
    if (std::exchange(last_[loss.cause], loss.events) < loss.events) more.push_back(loss);
  }
  return more;
}

}  // namespace offcpud
