// SPDX-License-Identifier: Apache-2.0
// Every estimate is right on average, although the intervals depend on what was sampled: on how
// much there was, and on what it was for.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "stacks/stack_allocation.h"
#include "support/lasting_blocks.h"
#include "support/simulated_host.h"
#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::Blocks;
using test::kConvoy;
using test::kMs;
using test::kSecond;
using test::LastingBlocks;
using test::SimulatedHost;

constexpr int kRuns = 200;

// Threads, and what they wait for.
struct Waits {
  const char* name;
  Blocks blocks;
  WaitFor wait_for;
  bool last = false;  // walks count them
};

constexpr Blocks of_convoy_s_process(double per_second, double least_s, double most_s) {
  return {.tgid = kConvoy.tgid,
          .per_second = per_second,
          .least_ns = least_s * kSecond,
          .most_ns = most_s * kSecond};
}

constexpr Blocks of_kernel(double per_second, double least_ms, double most_ms) {
  return {.tgid = 12,
          .kind = OFFCPUD_BLOCKED_KERNEL,
          .per_second = per_second,
          .least_ns = least_ms * kMs,
          .most_ns = most_ms * kMs,
          .flags = OFFCPUD_SAMPLE_KERNEL_THREAD};
}

// Several of one stratum wait for different things, so what is known of it depends on chance.
std::vector<Waits> all_waits() {
  return {
      {"convoy", kConvoy, WaitFor::Lock},
      {"idle threads of its process", of_convoy_s_process(300, 0.9, 1.1), WaitFor::Work},
      {"lasting locks of its process", of_convoy_s_process(1, 1, 5), WaitFor::Lock, true},
      {"crowd",
       {.tgid = 5000,
        .kind = OFFCPUD_BLOCKED_SLEEP,
        .per_second = 1000,
        .least_ns = 0.9 * kSecond,
        .most_ns = 1.1 * kSecond},
       WaitFor::Timer},
      {"short locks",
       {.tgid = 10, .per_second = 2000, .least_ns = 0.001 * kMs, .most_ns = kMs},
       WaitFor::Lock},
      {"answers",
       {.tgid = 11,
        .kind = OFFCPUD_BLOCKED_NETWORK,
        .per_second = 300,
        .least_ns = 0.1 * kMs,
        .most_ns = 300 * kMs},
       WaitFor::Answer},
      {"requests that are waited for",
       {.tgid = 11,
        .kind = OFFCPUD_BLOCKED_NETWORK,
        .per_second = 100,
        .least_ns = kMs,
        .most_ns = kSecond},
       WaitFor::Work},
      {"disk",
       {.tgid = 13,
        .kind = OFFCPUD_BLOCKED_DISK,
        .per_second = 3,
        .least_ns = kMs,
        .most_ns = 2 * kSecond},
       WaitFor::Storage},
      {"event loops",
       {.tgid = 14,
        .kind = OFFCPUD_BLOCKED_POLL,
        .per_second = 20,
        .least_ns = kSecond,
        .most_ns = 30 * kSecond},
       WaitFor::Work,
       true},
      {"kernel threads", of_kernel(100, 0.1, 1000), WaitFor::Work},
      {"locks of the kernel", of_kernel(50, 1, 40), WaitFor::Lock},
      {"kernel threads that last", of_kernel(2, 1000, 30'000), WaitFor::Unknown, true},
  };
}

// The mean of the errors of unbiased estimates is 0, within its own standard error.
struct Bias {
  double sum = 0, squares = 0;
  int runs = 0;

  void add(double error) {
    sum += error;
    squares += error * error;
    ++runs;
  }
  [[nodiscard]] double mean() const { return sum / runs; }
  [[nodiscard]] double standard_error() const {
    return std::sqrt((squares - sum * sum / runs) / (runs - 1) / runs);
  }
};

// A host on which all intervals change all the time: a crowd comes and goes, budgets differ, and
// what waits are for is learned from the samples, second after second.
class ChangingHost {
 public:
  explicit ChangingHost(std::uint32_t seed) : host_(seed), random_(seed + 1) {}

  // What a sample counts for, instead of its weight.
  using Count = std::function<double(const offcpud_sample& sample)>;

  // The errors of all estimates of 24 s.
  std::vector<double> run_once(const Count& count) {
    run_ = Run();
    for (const Waits& waits : all_waits()) run_.lasting.emplace_back(waits.blocks);
    for (int second = 0; second < 24; ++second) {
      if (second == 12) run_.allocation.set_budget(30);
      if (second == 16) run_.allocation.set_budget(300);
      pass(second >= 8 && second < 16, count);
    }
    return run_.errors;
  }

  // The least and the longest intervals of a stratum that were in force in the last run.
  [[nodiscard]] std::pair<double, double> intervals_of_convoy() const { return run_.of_convoy; }

 private:
  struct Run {
    StackAllocation allocation{100, 10ms};
    StratumWeights weights;
    std::vector<LastingBlocks> lasting;
    std::vector<double> errors = std::vector<double>(all_waits().size(), 0.0);
    std::pair<double, double> of_convoy{1e18, 0};
  };

  // A second, and what the daemon does after it.
  void pass(bool crowded, const Count& count) {
    const SamplingIntervals in_force = run_.allocation.intervals();
    const auto of_convoy = static_cast<double>(in_force.of[stratum_of(kConvoy.sample())].count());
    run_.of_convoy.first = std::min(run_.of_convoy.first, of_convoy);
    run_.of_convoy.second = std::max(run_.of_convoy.second, of_convoy);
    StratumTimes known;
    const auto all = all_waits();
    for (std::size_t i = 0; i < all.size(); ++i) {
      Blocks blocks = all[i].blocks;
      if (!crowded && blocks.kind == OFFCPUD_BLOCKED_SLEEP) blocks.per_second = 1;
      const auto take = [&](const offcpud_sample& sample) {
        run_.errors[i] += count(sample);
        run_.allocation.count(sample, 1);
        known[stratum_of(sample)].add(all[i].wait_for, static_cast<double>(sample.weight_ns));
      };
      run_.errors[i] -= all[i].last ? run_.lasting[i].run_second(random_, in_force, take)
                                    : host_.run_second(blocks, in_force, take);
    }
    run_.weights.add(known, 1s);
    run_.allocation.use(run_.weights);
    run_.allocation.adapt(1s);
  }

  SimulatedHost host_;
  std::mt19937 random_;
  Run run_;
};

std::vector<Bias> bias_of(ChangingHost& host, const ChangingHost::Count& count) {
  std::vector<Bias> bias(all_waits().size());
  for (int i = 0; i < kRuns; ++i) {
    const auto errors = host.run_once(count);
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j].add(errors[j]);
  }
  return bias;
}

double weight_of(const offcpud_sample& sample) {
  return static_cast<double>(sample.weight_ns);
}

TEST(StackAllocationBias, EveryEstimateIsUnbiasedThroughEveryChange) {
  ChangingHost host(8);
  const auto bias = bias_of(host, weight_of);
  for (std::size_t j = 0; j < bias.size(); ++j) {
    const std::string name = all_waits()[j].name;
    EXPECT_LE(std::abs(bias[j].mean()), 3 * bias[j].standard_error() + 1) << name;
    EXPECT_GT(bias[j].standard_error(), 0) << name << ": nothing was left to chance";
  }
  const auto [least, longest] = host.intervals_of_convoy();
  EXPECT_GT(longest, 4 * least) << "the intervals changed";
}

// The test above notices a part that is counted as the whole.
TEST(StackAllocationBias, TheTestNoticesWhatWalksHaveCountedAlready) {
  ChangingHost host(8);
  const auto bias = bias_of(host, [](const offcpud_sample& sample) {
    return static_cast<double>(sample.whole_ns != 0 ? sample.whole_ns : sample.weight_ns);
  });
  for (std::size_t j = 0; j < bias.size(); ++j) {
    if (!all_waits()[j].last) continue;
    EXPECT_GT(bias[j].mean(), 4 * bias[j].standard_error()) << all_waits()[j].name;
  }
}

// And a weight by another interval than the one in force at the decision.
TEST(StackAllocationBias, TheTestNoticesTheWrongInterval) {
  Bias bias;
  SimulatedHost host(9);
  for (int i = 0; i < kRuns; ++i) {
    StackAllocation allocation(100, 10ms);
    const std::vector<Blocks> all = {kConvoy, of_convoy_s_process(1000, 0.9, 1.1)};
    double error = 0;
    for (int second = 0; second < 10; ++second) {
      std::vector<double> lengths;
      const SamplingIntervals in_force = allocation.intervals();
      for (const Blocks& blocks : all) {
        const double truth = host.run_second(blocks, in_force, [&](const offcpud_sample& sample) {
          allocation.count(sample, 1);
          if (&blocks == &all[0]) lengths.push_back(static_cast<double>(sample.ns));
        });
        if (&blocks == &all[0]) error -= truth;
      }
      allocation.adapt(1s);
      const auto later =
          static_cast<double>(allocation.intervals().of[stratum_of(all[0].sample())].count());
      for (const double ns : lengths) error += std::max(ns, later);
    }
    bias.add(error);
  }
  EXPECT_GT(std::abs(bias.mean()), 10 * bias.standard_error());
}

}  // namespace
}  // namespace offcpud
