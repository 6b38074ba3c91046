// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// The last ten minutes in steps of 10 s. Steps begin at multiples of 10 s of the wall clock, so
// that two answers have the same steps, no matter when the daemon examined stacks and read maps.
class StepGrid {
 public:
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::size_t kCount = 60;
  static constexpr double kLeastKnown = 2e9;  // ns; a step of which less is known is not shown

  using Cells = std::array<double, kCount>;  // ns of each step
  // The steps that overlap a time, each with the part of the time that lies in it.
  using Shares = std::vector<std::pair<std::size_t, double>>;

  explicit StepGrid(const View& view);

  [[nodiscard]] Shares shares_of(MonotonicTime begin, MonotonicTime end) const;
  // The step in which a time is; nullopt: it is in none of them.
  [[nodiscard]] std::optional<std::size_t> step_of(MonotonicTime time) const;
  // When the last step ends, how long each is, and how many there are.
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  MonotonicTime end_;  // of the last step
  WallTime end_wall_;
};

}  // namespace offcpud
