// SPDX-License-Identifier: Apache-2.0
#include "stacks/stack_allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "stacks/sampling_rate.h"
#include "support/simulated_host.h"
#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::Blocks;
using test::kConvoy;
using test::kMs;
using test::kSecond;
using test::SimulatedHost;

// Threads of another process, each of which blocks about once a second.
Blocks crowd(double threads, std::uint32_t kind) {
  return {.tgid = 5000,
          .kind = kind,
          .per_second = threads,
          .least_ns = 0.9 * kSecond,
          .most_ns = 1.1 * kSecond};
}

// What else a host does: short waits of many processes, and kernel threads.
std::vector<Blocks> others() {
  std::vector<Blocks> all;
  for (std::uint32_t tgid = 100; tgid < 130; ++tgid) {
    all.push_back({.tgid = tgid,
                   .kind = OFFCPUD_BLOCKED_POLL,
                   .per_second = 5,
                   .least_ns = kMs,
                   .most_ns = kSecond});
    all.push_back({.tgid = tgid,
                   .kind = OFFCPUD_BLOCKED_DISK,
                   .per_second = 10,
                   .least_ns = 0.05 * kMs,
                   .most_ns = 5 * kMs});
  }
  all.push_back({.tgid = 12,
                 .kind = OFFCPUD_BLOCKED_KERNEL,
                 .per_second = 300,
                 .least_ns = 0.1 * kMs,
                 .most_ns = kSecond,
                 .flags = OFFCPUD_SAMPLE_KERNEL_THREAD});
  return all;
}

struct SampledEstimate {
  double truth = 0, sum = 0, variance = 0;
  double stacks = 0;

  [[nodiscard]] double relative_error() const { return std::sqrt(variance) / truth; }
};

// Lets the seconds pass, with one adaptation after each.
std::vector<SampledEstimate> run(SimulatedHost& host, StackAllocation& allocation,
                                 const std::vector<Blocks>& all, int seconds) {
  std::vector<SampledEstimate> found(all.size());
  for (int second = 0; second < seconds; ++second) {
    const SamplingIntervals in_force = allocation.intervals();
    for (std::size_t i = 0; i < all.size(); ++i) {
      SampledEstimate& estimate = found[i];
      estimate.truth += host.run_second(all[i], in_force, [&](const offcpud_sample& sample) {
        const auto weight = static_cast<double>(sample.weight_ns);
        estimate.sum += weight;
        estimate.variance += weight * (weight - static_cast<double>(sample.ns));
        estimate.stacks += 1;
        allocation.count(sample, 1);
      });
    }
    allocation.adapt(1s);
  }
  return found;
}

double stacks_of(const std::vector<SampledEstimate>& all) {
  return std::accumulate(
      all.begin(), all.end(), 0.0,
      [](double sum, const SampledEstimate& estimate) { return sum + estimate.stacks; });
}

std::vector<Blocks> with_others(std::vector<Blocks> some) {
  for (const Blocks& blocks : others()) some.push_back(blocks);
  return some;
}

TEST(StackAllocation, BeginsWithOneIntervalForAll) {
  const StackAllocation allocation(200, 10ms);
  EXPECT_EQ(allocation.intervals(), SamplingIntervals(10ms));
  EXPECT_EQ(StackAllocation(200, 1ns).intervals(), SamplingIntervals(SamplingRate::kLeast));
  EXPECT_EQ(StackAllocation(200, 24h).intervals(), SamplingIntervals(SamplingRate::kMost));
}

TEST(StackAllocation, LearnsNothingFromNoTime) {
  StackAllocation allocation(200, 10ms);
  allocation.adapt(0s);
  allocation.adapt(-1s);
  EXPECT_EQ(allocation.intervals(), SamplingIntervals(10ms));
}

// The budget is for all blocks, so an interval falls while there are stacks to spare.
TEST(StackAllocation, SamplesEverythingThatTheBudgetHasRoomFor) {
  SimulatedHost host(1);
  StackAllocation allocation(200, 10ms);
  auto longest = std::ranges::max(allocation.intervals().longest());
  for (int second = 0; second < 8; ++second) {
    run(host, allocation, {kConvoy, crowd(50, OFFCPUD_BLOCKED_SLEEP)}, 1);
    const auto now = std::ranges::max(allocation.intervals().longest());
    EXPECT_GE(now, longest / 2);  // at most halved
    longest = now;
  }
  EXPECT_EQ(allocation.intervals(), SamplingIntervals(SamplingRate::kLeast));
}

TEST(StackAllocation, KeepsToItsBudget) {
  for (const double budget : {20.0, 200.0, 1000.0}) {
    for (const double threads : {1000.0, 10'000.0}) {
      SimulatedHost host(2);
      StackAllocation allocation(budget, 10ms);
      const auto all = with_others({kConvoy, crowd(threads, OFFCPUD_BLOCKED_SLEEP)});
      run(host, allocation, all, 15);
      const double taken = stacks_of(run(host, allocation, all, 60)) / 60;
      EXPECT_LE(taken, 1.05 * budget) << budget << " beside " << threads;
      EXPECT_GE(taken, 0.6 * budget) << budget << " beside " << threads;
    }
  }
}

TEST(StackAllocation, FollowsANewBudget) {
  SimulatedHost host(3);
  StackAllocation allocation(200, 10ms);
  const auto all = with_others({kConvoy, crowd(10'000, OFFCPUD_BLOCKED_SLEEP)});
  run(host, allocation, all, 30);
  allocation.set_budget(50);
  run(host, allocation, all, 5);
  EXPECT_NEAR(stacks_of(run(host, allocation, all, 60)) / 60, 50, 10);
}

// Blocks of many lengths in one stratum are fewer stacks than the bound says, which is made up for.
TEST(StackAllocation, UsesTheBudgetWhereLengthsDiffer) {
  SimulatedHost host(4);
  StackAllocation allocation(200, 10ms);
  const Blocks mixed{
      .tgid = 9, .per_second = 20'000, .least_ns = 0.001 * kMs, .most_ns = 100 * kMs};
  run(host, allocation, {mixed}, 20);
  EXPECT_NEAR(stacks_of(run(host, allocation, {mixed}, 40)) / 40, 200, 20);
}

// A crowd that comes all at once may exceed the budget until it is known, which takes a second.
TEST(StackAllocation, HoldsBackACrowdWithinSeconds) {
  SimulatedHost host(5);
  StackAllocation allocation(200, 10ms);
  run(host, allocation, others(), 60);
  const auto all = with_others({crowd(10'000, OFFCPUD_BLOCKED_SLEEP)});
  run(host, allocation, all, 2);
  EXPECT_LE(stacks_of(run(host, allocation, all, 5)) / 5, 2 * 200);
  EXPECT_LE(stacks_of(run(host, allocation, all, 20)) / 20, 1.1 * 200);
}

// Each crowd is a surprise, and what it leaves is filled up at once.
TEST(StackAllocation, KeepsToItsBudgetWhereCrowdsComeAndGo) {
  SimulatedHost host(10);
  StackAllocation allocation(200, 10ms);
  const auto crowded = with_others({crowd(2000, OFFCPUD_BLOCKED_SLEEP)});
  double stacks = 0;
  for (int second = 0; second < 220; ++second) {
    const bool is_there = second / 2 % 2 == 1;
    const double taken = stacks_of(run(host, allocation, is_there ? crowded : others(), 1));
    if (second >= 20) stacks += taken;
  }
  EXPECT_LE(stacks / 200, 1.05 * 200);
}

// Spec: beside idle threads the convoy's time has a standard error of at most 3 %.
double error_of_convoy_beside(const Blocks& idle, const StratumWeights& weights = {}) {
  SimulatedHost host(6);
  StackAllocation allocation(200, 10ms);
  allocation.use(weights);
  const auto all = with_others({kConvoy, idle});
  run(host, allocation, all, 10);
  const auto found = run(host, allocation, all, 25);  // 46 s of waits
  EXPECT_NEAR(found[0].truth, 46 * kSecond, 3 * kSecond);
  EXPECT_NEAR(found[0].sum, found[0].truth, 3 * std::sqrt(found[0].variance) + 1);
  EXPECT_LE(stacks_of(found) / 25, 1.1 * 200);
  return found[0].relative_error();
}

TEST(StackAllocation, AConvoyDoesNotDrownInACrowd) {
  for (const double threads : {1000.0, 10'000.0}) {
    for (const std::uint32_t kind : {OFFCPUD_BLOCKED_SLEEP, OFFCPUD_BLOCKED_CONDVAR}) {
      EXPECT_LE(error_of_convoy_beside(crowd(threads, kind)), 0.03) << threads << " of " << kind;
    }
  }
  // Idle, but by their reason they may wait for a lock: another row must do.
  EXPECT_LE(error_of_convoy_beside(crowd(1000, OFFCPUD_BLOCKED_LOCK)), 0.06);
}

// The crowd waits for work, as idle threads of Go do.
StratumWeights knowing(const Blocks& idle) {
  KnownWaits waits;
  waits.add(WaitFor::Work, 100.0 * kSecond * kSecond);
  StratumWeights weights;
  weights.add({{stratum_of(idle.sample()), waits}}, 1s);
  return weights;
}

TEST(StackAllocation, WhatWaitsAreForTellsTheConvoyFromACrowdOfTheSameReason) {
  for (const double threads : {1000.0, 10'000.0}) {
    const Blocks idle = crowd(threads, OFFCPUD_BLOCKED_LOCK);
    EXPECT_LE(error_of_convoy_beside(idle, knowing(idle)), 0.03) << threads;
  }
}

// The same with one interval for all, as it was: the reason for strata.
double error_with_one_interval_beside(const Blocks& idle) {
  SimulatedHost host(6);
  SamplingRate rate(200, 10ms);
  const auto all = with_others({kConvoy, idle});
  double variance = 0, truth = 0;
  for (int second = 0; second < 45; ++second) {
    const SamplingIntervals in_force(rate.interval());
    double stacks = 0;
    for (const Blocks& blocks : all) {
      const bool counts = second >= 20 && blocks.tgid == kConvoy.tgid;
      const double total = host.run_second(blocks, in_force, [&](const offcpud_sample& sample) {
        const auto weight = static_cast<double>(sample.weight_ns);
        stacks += 1;
        if (counts) variance += weight * (weight - static_cast<double>(sample.ns));
      });
      if (counts) truth += total;
    }
    rate.adapt(stacks, 1s);
  }
  return std::sqrt(variance) / truth;
}

TEST(StackAllocation, OneIntervalDrownsTheConvoy) {
  EXPECT_GE(error_with_one_interval_beside(crowd(1000, OFFCPUD_BLOCKED_SLEEP)), 0.2);
}

TEST(StackAllocation, AWeightMovesStacksToItsStratum) {
  const auto stacks_with = [](const StratumWeights& weights) {
    SimulatedHost host(7);
    StackAllocation allocation(50, 10ms);
    const std::vector<Blocks> all = {kConvoy, crowd(1000, OFFCPUD_BLOCKED_LOCK)};
    allocation.use(weights);
    run(host, allocation, all, 20);
    return run(host, allocation, all, 60)[0].stacks / 60;
  };
  const double alike = stacks_with({}),
               less = stacks_with(knowing(crowd(1000, OFFCPUD_BLOCKED_LOCK)));
  EXPECT_GE(less, 2 * alike);
}

TEST(Strata, ProcessesThatFollowOneAnotherHaveRowsOfTheirOwn) {
  std::map<std::uint32_t, int> rows;
  constexpr std::uint32_t kProcesses = 62'000;
  for (std::uint32_t tgid = 1; tgid <= kProcesses; ++tgid) ++rows[offcpud_sample_row(tgid, 0)];
  EXPECT_EQ(rows.size(), OFFCPUD_SAMPLE_ROWS - 2U);
  EXPECT_EQ(rows.begin()->first, 2U);
  EXPECT_EQ(rows.rbegin()->first, OFFCPUD_SAMPLE_ROWS - 1U);
  for (const auto& [row, processes] : rows) EXPECT_NEAR(processes, 1000, 100) << row;
  for (std::uint32_t tgid = 1; tgid < 1000; ++tgid) {
    EXPECT_NE(offcpud_sample_row(tgid, 0), offcpud_sample_row(tgid + 1, 0));
    EXPECT_EQ(offcpud_sample_row(tgid, 1), OFFCPUD_ROW_OF_KERNEL_THREADS);
  }
}

TEST(Strata, EachReasonHasALongestInterval) {
  SamplingIntervals intervals(10ms);
  intervals.of[stratum_at(7, OFFCPUD_BLOCKED_SLEEP)] = 90s;
  intervals.of[stratum_at(8, OFFCPUD_BLOCKED_DISK)] = 20ms;
  const ReasonIntervals longest = intervals.longest();
  EXPECT_EQ(longest[OFFCPUD_BLOCKED_SLEEP], 90s);
  EXPECT_EQ(longest[OFFCPUD_BLOCKED_DISK], 20ms);
  EXPECT_EQ(longest[OFFCPUD_BLOCKED_LOCK], 10ms);
}

}  // namespace
}  // namespace offcpud
