// SPDX-License-Identifier: Apache-2.0
// Snapshots of a minute, in which threads of some cgroups wait.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud::test {

inline const WallTime kEpoch(std::chrono::seconds(1'795'176'000));

struct Amount {
  double seconds = 0;
  double error = 0;  // seconds
};

inline StackEntry waits(const std::string& cgroup, WaitFor wait_for, const std::string& site,
                        Amount amount) {
  return {.cgroup = cgroup,
          .wait_for = wait_for,
          .site = site,
          .ns = static_cast<std::uint64_t>(amount.seconds * 1e9),
          .variance = std::pow(amount.error * 1e9, 2)};
}

inline Snapshot minute(WallTime begin, std::vector<StackEntry> entries) {
  Snapshot snapshot;
  snapshot.begin = begin;
  snapshot.end = begin + std::chrono::minutes(1);
  snapshot.entries = std::move(entries);
  return snapshot;
}

}  // namespace offcpud::test
