// SPDX-License-Identifier: Apache-2.0
#include "ctl/sampling_bound.h"

#include <chrono>

#include "base/duration_text.h"

namespace offcpud {

// Waits of total length S, each shorter than the interval T, are all missed with a probability of
// at most exp(-S / T), which is 0.05 for S = 3 T: the rule of three.
std::string sampling_bound(const nlohmann::json& answer) {
  constexpr double kIntervals = 3;
  const auto interval = answer.find("sampling_interval_seconds");
  if (interval == answer.end() || !interval->is_number()) return {};
  const std::chrono::duration<double> bound(kIntervals * interval->get<double>());
  return "; such waits may add up to " + duration_text(bound);
}

}  // namespace offcpud
