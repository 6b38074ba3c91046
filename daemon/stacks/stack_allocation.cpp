// SPDX-License-Identifier: Apache-2.0
#include "stacks/stack_allocation.h"

#include <cmath>
#include <utility>

#include "stacks/sampling_rate.h"

namespace offcpud {
namespace {

// The time of a stratum above which its share of stacks stops growing in proportion: a tenth of one
// thread. Below it nobody waits enough to matter, and many small strata do not take all stacks.
constexpr double kSmallNs = 1e8;

// The weight of a new second in an estimate. It grows with the samples in it: a few say little.
constexpr double kLeastGain = 1.0 / 32, kMostGain = 1.0 / 2, kGainOfSample = 1.0 / 64;

// The level has no meaning of its own; with these bounds every interval reaches its own bounds.
constexpr double kLeastLevel = 1e-4;
constexpr int kHalvings = 60;

constexpr double kLeastExcess = 1.0 / 8, kMostExcess = 8;

// Stacks beyond the budget are saved within this many seconds; those beyond so many seconds' budget
// are forgiven.
constexpr double kPayOffSeconds = 10, kMostOwedSeconds = 2;

constexpr auto kLeastNs = static_cast<double>(SamplingRate::kLeast.count());
constexpr auto kMostNs = static_cast<double>(SamplingRate::kMost.count());

double nanoseconds_of(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count());
}

// At most this many stacks come of a stratum: a block of length d gives min(1, d / interval).
double most_stacks(double ns, double blocks, double interval) {
  return std::min(blocks, ns / interval);
}

}  // namespace

StackAllocation::StackAllocation(double per_second, std::chrono::nanoseconds first)
    : strata_(kStrata), intervals_(std::clamp(first, SamplingRate::kLeast, SamplingRate::kMost)) {
  set_budget(per_second);
  use(StratumWeights());
}

void StackAllocation::use(const StratumWeights& weights) {
  for (std::size_t i = 0; i < kStrata; ++i) strata_[i].weight = weights.of(i);
}

// Counts what a sample stands for: time, and a number of whole blocks, because the lengths of whole
// blocks decide about sampling.
void StackAllocation::count(const offcpud_sample& sample, double of_budget) {
  counted_ += of_budget;
  if (sample.ended_ns <= sample.since_ns) return;
  Stratum& stratum = strata_[stratum_of(sample)];
  const auto weight = static_cast<double>(sample.whole_ns);
  stratum.counted_ns += weight;
  stratum.counted_blocks += weight / static_cast<double>(sample.ended_ns - sample.since_ns);
  ++stratum.samples;
}

void StackAllocation::estimate(double seconds) {
  for (Stratum& stratum : strata_) {
    const double gain =
        std::clamp(static_cast<double>(stratum.samples) * kGainOfSample, kLeastGain, kMostGain);
    const auto follow = [&](double& estimate, double& counted) {
      estimate += gain * (std::exchange(counted, 0.0) / seconds - estimate);
    };
    follow(stratum.ns, stratum.counted_ns);
    follow(stratum.blocks, stratum.counted_blocks);
    stratum.samples = 0;
    if (stratum.ns < 1) stratum.ns = stratum.blocks = 0;  // else it would decay without end
    // n ~ weight * ns / stretch: proportional below kSmallNs, the fourth root above.
    stratum.stretch = std::pow(1 + stratum.ns / kSmallNs, 0.75) / stratum.weight;
  }
}

double StackAllocation::interval_at(const Stratum& stratum, double level) const {
  return std::clamp(level * stratum.stretch, kLeastNs, kMostNs);
}

double StackAllocation::stacks_at(double level) const {
  double stacks = 0;
  for (const Stratum& stratum : strata_) {
    stacks += most_stacks(stratum.ns, stratum.blocks, interval_at(stratum, level));
  }
  return stacks;
}

// The expected number is an upper bound: fewer come if the blocks of a stratum differ in length.
void StackAllocation::note_excess(double came) {
  double expected = 0;
  for (std::size_t i = 0; i < kStrata; ++i) {
    expected += most_stacks(strata_[i].ns, strata_[i].blocks, nanoseconds_of(intervals_.of[i]));
  }
  if (expected <= 0 || came <= 0) return;
  excess_ = std::clamp(came / expected, excess_ / 2, excess_ * 2);
  excess_ = std::clamp(excess_, kLeastExcess, kMostExcess);
}

// A rise is noticed too late, while a fall is soon used up by others. Without this correction, the
// mean on a host that changes all the time would exceed the budget.
double StackAllocation::budget_left(double came, double seconds) {
  owed_ += (came - budget_) * seconds;
  owed_ = std::clamp(owed_, 0.0, kMostOwedSeconds * budget_);
  return budget_ - owed_ / kPayOffSeconds;
}

double StackAllocation::level_within(double budget) const {
  double low = kLeastLevel, high = kMostNs;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    (stacks_at(middle) > budget ? low : high) = middle;
  }
  return high;
}

void StackAllocation::adapt(std::chrono::nanoseconds elapsed) {
  if (elapsed.count() <= 0) return;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  estimate(seconds);
  const double came = std::exchange(counted_, 0.0) / seconds;
  note_excess(came);
  const double level = level_within(budget_left(came, seconds) / excess_);
  for (std::size_t i = 0; i < kStrata; ++i) {
    const auto wanted = static_cast<std::int64_t>(interval_at(strata_[i], level));
    auto& interval = intervals_.of[i];
    interval = std::max({std::chrono::nanoseconds(wanted), interval / 2, SamplingRate::kLeast});
  }
}

}  // namespace offcpud
