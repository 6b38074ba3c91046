// SPDX-License-Identifier: Apache-2.0
#include "ctl/sampling_bound.h"

#include <chrono>

#include "base/duration_text.h"

namespace offcpud {
namespace {

bool leaves_waits_out(const nlohmann::json& answer) {
  const auto captured = answer.find("captured");
  return (captured != answer.end() && !captured->empty()) || answer.value("unreadable", 0.0) > 0 ||
         answer.value("lost_of_any_seconds", 0.0) > 0;
}

}  // namespace

// Waits of total length S, each shorter than the interval T, are all missed with a probability of
// at most exp(-S / T), which is 0.05 for S = 3 T: the rule of three. As boundOf() of the page.
std::string sampling_bound(const nlohmann::json& answer) {
  constexpr double kIntervals = 3;
  if (leaves_waits_out(answer)) return {};
  const auto interval = answer.find("sampling_interval_seconds");
  if (interval == answer.end() || !interval->is_number()) return {};
  const std::chrono::duration<double> bound(kIntervals * interval->get<double>());
  return "; short waits that sampling missed add up to " + duration_text(bound) +
         " at most, over all threads";
}

}  // namespace offcpud
