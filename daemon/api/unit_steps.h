// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "api/step_grid.h"
#include "api/unit_query.h"
#include "base/wait_for.h"
#include "pipeline/view.h"

namespace offcpud {

// Says what the threads of cgroups waited for in each step of a StepGrid. The grid and the View,
// which owns the names of the cgroups, must outlive the object.
class UnitSteps {
 public:
  UnitSteps(const View& view, const StepGrid& grid, const UnitQuery& query);

  // For each thing waited for, a list with the average number of waiting threads in each step;
  // null: nothing is known of the step. Leaves out waits for work, for timers and for children.
  [[nodiscard]] nlohmann::ordered_json json_of(std::string_view cgroup) const;
  [[nodiscard]] nlohmann::ordered_json total_json() const { return json(total_); }

 private:
  static constexpr std::size_t kCpu = kWaitForNames.size();
  using Series = std::array<std::vector<double>, kCpu + 1>;  // by what for; empty: nothing waited

  void add_sites(const View& view, const UnitQuery& query);
  void add_cpus(const View& view, const UnitQuery& query);
  static void spread(Series& series, std::size_t what, double ns, const StepGrid::Shares& shares);
  [[nodiscard]] nlohmann::ordered_json json(const Series& series) const;

  const StepGrid& grid_;
  StepGrid::Cells examined_{}, read_{};  // what windows, and steps of passes, cover
  std::map<std::string_view, Series> units_;
  Series total_;
};

}  // namespace offcpud
