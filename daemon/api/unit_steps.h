// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "api/unit_query.h"
#include "base/wait_for.h"
#include "pipeline/view.h"

namespace offcpud {

// Says what the threads of cgroups waited for in the last ten minutes, in steps of 10 s. Steps
// begin at multiples of 10 s of the wall clock, so that two answers have the same steps, whenever
// the daemon examined stacks and read the maps. The View owns the names of the cgroups, so it must
// outlive the object.
class UnitSteps {
 public:
  UnitSteps(const View& view, const UnitQuery& query);

  // When the last step ends, how long each is, and how many there are.
  [[nodiscard]] nlohmann::ordered_json grid_json() const;
  // For each thing waited for, a list with the average number of waiting threads in each step;
  // null: nothing is known of the step. Leaves out waits for work, for timers and for children.
  [[nodiscard]] nlohmann::ordered_json json_of(std::string_view cgroup) const;
  [[nodiscard]] nlohmann::ordered_json total_json() const { return json(total_); }

 private:
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::size_t kCount = 60;
  static constexpr std::size_t kCpu = kWaitForNames.size();
  using Cells = std::array<double, kCount>;                  // ns
  using Series = std::array<std::vector<double>, kCpu + 1>;  // by what for; empty: nothing waited
  // The steps that overlap a window, each with the part of the window that lies in it.
  using Shares = std::vector<std::pair<std::size_t, double>>;

  void add_sites(const View& view, const UnitQuery& query);
  void add_cpus(const View& view, const UnitQuery& query);
  [[nodiscard]] Shares shares_of(MonotonicTime begin, MonotonicTime end) const;
  static void spread(Series& series, std::size_t what, double ns, const Shares& shares);
  [[nodiscard]] nlohmann::ordered_json json(const Series& series) const;

  MonotonicTime end_;  // of the last step
  WallTime end_wall_;
  Cells examined_{}, read_{};  // ns of each step that windows, and steps of passes, cover
  std::map<std::string_view, Series> units_;
  Series total_;
};

}  // namespace offcpud
