// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sample.h"
#include "stacks/sampling_intervals.h"
#include "stacks/stratum_weights.h"

namespace offcpud {

// Sets the sampling interval of each stratum, so that all together keep to a budget of stacks. An
// interval may change at any time: sums stay unbiased as long as it depends only on what was
// sampled before. The intervals only decide which strata have small errors.
//
// The number of stacks of a stratum grows with the fourth root of its time (a power allocation;
// Bankier 1988, "Power allocations: determining sample sizes for subnational areas", The American
// Statistician 42 (3)). That lies between equal relative errors for all strata and the smallest
// error of the total, which one interval for all would give. docs/decisions/0018-strata.md.
// Single-threaded.
class StackAllocation {
 public:
  // `per_second`: the budget of stacks, at least 1. All intervals are `first` at first.
  StackAllocation(double per_second, std::chrono::nanoseconds first);

  void set_budget(double per_second) { budget_ = std::max(per_second, 1.0); }

  // Sets how much strata matter from now on, relative to each other.
  void use(const StratumWeights& weights);

  // Counts a sample, which uses up `of_budget` stacks of the budget.
  void count(const offcpud_sample& sample, double of_budget);

  // Adapts the intervals to what was counted since the last call, `elapsed` ago. An interval at
  // most halves, because a quiet second says little about the next.
  void adapt(std::chrono::nanoseconds elapsed);

  [[nodiscard]] const SamplingIntervals& intervals() const { return intervals_; }

 private:
  struct Stratum {
    double weight = 1;
    // Estimates of what there is, per second: nanoseconds of blocks, and their number.
    double ns = 0, blocks = 0;
    // Counted since the last adaptation.
    double counted_ns = 0, counted_blocks = 0;
    unsigned samples = 0;
    double stretch = 1;  // the interval relative to the level
  };

  void estimate(double seconds);
  void note_excess(double came);
  [[nodiscard]] double budget_left(double came, double seconds);
  [[nodiscard]] double interval_at(const Stratum& stratum, double level) const;
  [[nodiscard]] double stacks_at(double level) const;
  [[nodiscard]] double level_within(double budget) const;

  double budget_ = 1;
  std::vector<Stratum> strata_;
  SamplingIntervals intervals_;
  double counted_ = 0;  // stacks of the budget since the last adaptation
  double excess_ = 1;   // stacks that come for each one that was expected
  double owed_ = 0;     // stacks beyond the budget so far, to be saved in later seconds
};

}  // namespace offcpud
