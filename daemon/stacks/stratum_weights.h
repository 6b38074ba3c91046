// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "stacks/stratum_times.h"

namespace offcpud {

// How much each stratum matters, by the part p of its time on whose waits somebody can act: the
// square root of p. With a budget for all stacks together that makes the sum of the variances of
// the actionable times least: a stratum of time S with the interval T costs S/T stacks, and its
// actionable time p*S has a variance of up to T*p*S. Under a given sum of S/T the sum of T*p*S is
// least where T grows with 1/sqrt(p) (Lagrange). docs/decisions/0018-strata.md. Single-threaded.
class StratumWeights {
 public:
  // The least weight: for idle-prone reasons and kernel threads as long as nothing is known, and
  // for any stratum in which nobody waits for anything but work and time.
  static constexpr double kIdle = 1.0 / 16;

  StratumWeights();

  // Takes note of sampled waits. What was noted before loses half of its weight in kHalfLife.
  void add(const StratumTimes& times, std::chrono::nanoseconds since_last);

  // From kIdle to 1. Waits of which nobody knows what they are for count as the first guess.
  [[nodiscard]] double of(std::size_t stratum) const;

  static constexpr std::chrono::minutes kHalfLife{2};

 private:
  std::vector<KnownWaits> known_;
};

}  // namespace offcpud
