// SPDX-License-Identifier: Apache-2.0
#include "ctl/sampling_bound.h"

#include <array>
#include <cstdio>

namespace offcpud {

// Waits of total length S that are shorter than the interval T are all missed with a probability of
// exp(-S / T) at most, which is 0.05 for S = 3 T: the rule of three.
std::string sampling_bound(const nlohmann::json& answer) {
  constexpr double kIntervals = 3;
  const auto interval = answer.find("sampling_interval_seconds");
  if (interval == answer.end() || !interval->is_number()) return {};
  const double seconds = kIntervals * interval->get<double>();
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), seconds < 100 ? "%.2g s" : "%.0f s", seconds);
  return std::string("; such waits may add up to ") + text.data();
}

}  // namespace offcpud
