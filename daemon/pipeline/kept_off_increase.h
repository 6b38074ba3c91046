// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// Time for which threads of a cgroup waited for a CPU that another one had, within waits that ended
// since the last reading.
struct KeptOffIncrease {
  std::uint64_t cgroup_id = 0;  // who waited; 0: cgroups that found no place
  std::uint64_t taker = 0;  // cgroup id of who had the CPU, or OFFCPUD_TAKEN_BY_... (kept_off.h)
  std::uint64_t ns = 0;
};

}  // namespace offcpud
