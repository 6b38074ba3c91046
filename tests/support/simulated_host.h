// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "stacks/sampling_intervals.h"
#include "support/times.h"

namespace offcpud::test {

// Threads of one process that block again and again for the same reason. The logarithms of the
// lengths are spread evenly between two bounds.
struct Blocks {
  std::uint32_t tgid = 1;
  std::uint32_t kind = OFFCPUD_BLOCKED_LOCK;
  double per_second = 0;
  double least_ns = 0, most_ns = 0;
  std::uint32_t flags = 0;

  [[nodiscard]] offcpud_sample sample() const {
    offcpud_sample sample{};
    sample.tgid = tgid;
    sample.kind = kind;
    sample.flags = flags;
    sample.since_ns = 1;
    return sample;
  }
};

// Three threads of which two wait for the third, 20 to 40 ms each time.
inline constexpr Blocks kConvoy{
    .tgid = 4000, .per_second = 66, .least_ns = 20 * kMs, .most_ns = 40 * kMs};

// A host whose blocks are sampled as the kernel's programs do it. Numbers are the same everywhere:
// only the generator's own are used, whose sequence the standard fixes.
class SimulatedHost {
 public:
  explicit SimulatedHost(std::uint32_t seed) : random_(seed) {}

  // Passes every sampled block of one second to `take`, and returns the time of all.
  template <typename Take>
  double run_second(const Blocks& blocks, const SamplingIntervals& intervals, const Take& take) {
    offcpud_sample sample = blocks.sample();
    const auto interval = static_cast<std::uint64_t>(intervals.of[stratum_of(sample)].count());
    const double steps = std::log(blocks.most_ns / blocks.least_ns);
    double total = 0;
    const auto count = static_cast<std::uint64_t>(blocks.per_second + fraction());
    for (std::uint64_t i = 0; i < count; ++i) {
      sample.ns = static_cast<std::uint64_t>(blocks.least_ns * std::exp(steps * fraction()));
      sample.ended_ns = sample.since_ns + sample.ns;
      total += static_cast<double>(sample.ns);
      sample.weight_ns = sample.whole_ns = std::max<std::uint64_t>(sample.ns, interval);
      const bool taken =
          sample.ns >= interval ||
          offcpud_sample_chosen(sample.ns, interval, static_cast<__u32>(random_())) != 0;
      if (taken) take(sample);
    }
    return total;
  }

 private:
  double fraction() { return static_cast<double>(random_()) / 4294967296.0; }

  std::mt19937 random_;
};

}  // namespace offcpud::test
