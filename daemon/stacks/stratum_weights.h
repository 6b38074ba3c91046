// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "stacks/stratum_times.h"

namespace offcpud {

// Weighs each stratum by the square root of p, the part of its time that is actionable. For a given
// budget of stacks this minimizes the sum of the variances of the actionable times: a stratum of
// time S with the interval T costs S/T stacks, and its actionable time p*S has a variance of up to
// T*p*S. For a given sum of S/T, the sum of T*p*S is least if T is proportional to 1/sqrt(p)
// (Lagrange). docs/decisions/0018-strata.md. Single-threaded.
class StratumWeights {
 public:
  // The least weight: that of idle-prone reasons and kernel threads as long as nothing is known,
  // and of any stratum in which all waits are for work or a timer.
  static constexpr double kIdle = 1.0 / 16;

  StratumWeights();

  // Takes note of sampled waits. What was noted before loses half of its weight in kHalfLife.
  void add(const StratumTimes& times, std::chrono::nanoseconds since_last);

  // From kIdle to 1. Waits for WaitFor::Unknown count like the first guess.
  [[nodiscard]] double of(std::size_t stratum) const;

  static constexpr std::chrono::minutes kHalfLife{2};

 private:
  std::vector<KnownWaits> known_;
};

}  // namespace offcpud
