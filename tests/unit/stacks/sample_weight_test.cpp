// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sample.h"
#include "stacks/sampling_rate.h"

namespace offcpud {
namespace {

constexpr double kRandoms = 4294967296.0;  // values of 32 bits

// The share of all random numbers that choose a block. They are chosen from 0 on, so the first one
// that does not tells.
double probability(std::uint64_t ns, std::uint64_t interval) {
  std::uint64_t chosen = 0, not_chosen = std::uint64_t{1} << 32;
  while (not_chosen - chosen > 1) {
    const std::uint64_t middle = (chosen + not_chosen) / 2;
    (offcpud_sample_chosen(ns, interval, static_cast<__u32>(middle)) ? chosen : not_chosen) =
        middle;
  }
  return static_cast<double>(not_chosen) / kRandoms;
}

const std::vector<std::uint64_t> kIntervals = {SamplingRate::kLeast.count(),
                                               123'456,
                                               1'000'000,
                                               10'000'000,
                                               4'294'967'295,
                                               4'294'967'296,
                                               4'294'967'297,
                                               60'000'000'000,
                                               SamplingRate::kMost.count()};

// Spec: the probability is the length in intervals, at every interval that SamplingRate gives. One
// random number more or less cannot be helped.
TEST(SampleWeight, ChoosesByTheLengthInIntervals) {
  for (const std::uint64_t interval : kIntervals) {
    for (const double part : {1e-6, 0.001, 0.1, 1.0 / 3, 0.5, 0.65536, 0.9, 0.999999}) {
      const auto ns = static_cast<std::uint64_t>(part * static_cast<double>(interval));
      if (ns == 0) continue;
      const double exact = static_cast<double>(ns) / static_cast<double>(interval);
      EXPECT_NEAR(probability(ns, interval), exact, 1.5 / kRandoms)
          << ns << " ns at an interval of " << interval;
    }
  }
}

struct Estimate {
  double ns = 0, episodes = 0, ns_error = 0, episodes_error = 0;  // standard errors
};

// What samples of these blocks add up to: weights, and weights by lengths.
Estimate estimate(const std::vector<std::uint64_t>& blocks, std::uint64_t interval,
                  std::mt19937& random) {
  Estimate sum;
  for (const std::uint64_t ns : blocks) {
    const auto length = static_cast<double>(ns), most = static_cast<double>(interval);
    if (ns >= interval) {
      sum.ns += length;
      sum.episodes += 1;
      continue;
    }
    const double p = length / most;
    sum.ns_error += p * (1 - p) * most * most;
    sum.episodes_error += p * (1 - p) / (p * p);
    if (!offcpud_sample_chosen(ns, interval, static_cast<__u32>(random()))) continue;
    sum.ns += most;
    sum.episodes += 1 / p;
  }
  sum.ns_error = std::sqrt(sum.ns_error);
  sum.episodes_error = std::sqrt(sum.episodes_error);
  return sum;
}

TEST(SampleWeight, SumsOfTimeAndEpisodesAreUnbiased) {
  std::mt19937 random(20);
  std::lognormal_distribution<double> length(std::log(200e3), 1.5);  // 0.2 ms, with a long tail
  std::vector<std::uint64_t> blocks(400'000);
  double total_ns = 0;
  for (auto& ns : blocks) {
    ns = 1 + static_cast<std::uint64_t>(length(random));
    total_ns += static_cast<double>(ns);
  }
  for (const std::uint64_t interval : {100'000ULL, 150'000ULL, 1'000'000ULL, 10'000'000ULL}) {
    const Estimate sum = estimate(blocks, interval, random);
    EXPECT_NEAR(sum.ns, total_ns, 3 * sum.ns_error) << interval;
    EXPECT_NEAR(sum.episodes, static_cast<double>(blocks.size()), 3 * sum.episodes_error)
        << interval;
    // The spread is what makes these bounds mean something.
    EXPECT_LT(sum.ns_error, total_ns / 50);
  }
}

}  // namespace
}  // namespace offcpud
