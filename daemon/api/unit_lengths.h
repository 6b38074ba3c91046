// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/step_grid.h"
#include "api/unit_query.h"
#include "base/wait_age.h"
#include "base/wait_for.h"
#include "pipeline/view.h"

namespace offcpud {

// Says for each step of a StepGrid how many waits of some cgroups ended, by length in octaves, and
// which was the oldest in progress, so that a hang shows while it lasts. Counts only actionable
// waits and waits for a CPU.
class UnitLengths {
 public:
  // The grid must outlive the object.
  UnitLengths(const View& view, const StepGrid& grid, const CgroupFilter& cgroup);

  // As docs/http.md says in "Units".
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  static constexpr std::size_t kCpu = kWaitForNames.size();
  static constexpr std::size_t kPerOctave = OFFCPUD_SLOTS_PER_OCTAVE;
  // Slot 0 is an octave of its own, and so is the last slot, which has no upper bound.
  static constexpr std::size_t kOctaves = (OFFCPUD_SLOTS + kPerOctave - 2) / kPerOctave + 1;
  static constexpr std::size_t octave_of(std::size_t slot) {
    return (slot + kPerOctave - 1) / kPerOctave;
  }

  using Octaves = std::vector<StepGrid::Cells>;  // waits; empty: none
  struct Lasting {
    std::uint32_t waits = 0;
    WaitAge oldest;
  };

  void add_ended(const View& view, const CgroupFilter& cgroup);
  void add_lasting(const View& view, const CgroupFilter& cgroup);
  void add_cell(std::size_t what, std::size_t slot, std::uint64_t count,
                const StepGrid::Shares& shares);
  [[nodiscard]] nlohmann::ordered_json ended_json(const Octaves& octaves) const;

  const StepGrid& grid_;
  StepGrid::Cells read_{};  // what steps of passes cover
  std::array<Octaves, kCpu + 1> ended_;
  std::array<std::array<Lasting, StepGrid::kCount>, kCpu> lasting_{};
};

}  // namespace offcpud
