// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "support/simulated_host.h"

namespace offcpud::test {

// Blocks that last for seconds: walks count them in parts, and their end is sampled as a whole, for
// what no walk has counted (bpf/blocked.bpf.c, bpf/choose.bpf.h).
class LastingBlocks {
 public:
  explicit LastingBlocks(const Blocks& blocks) : blocks_(blocks) {}

  // Lets a second pass: blocks begin and end, and a walk at its end counts those that last. Passes
  // all samples to `take`, and returns the time of the parts that were counted or have ended.
  template <typename Take>
  double run_second(std::mt19937& random, const SamplingIntervals& intervals, const Take& take) {
    const std::uint64_t begin = now_;
    now_ += kSecondNs;
    const auto count = static_cast<std::uint64_t>(blocks_.per_second + fraction(random));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t since = begin + part_of(kSecondNs, fraction(random));
      const double steps = std::log(blocks_.most_ns / blocks_.least_ns);
      const double length = blocks_.least_ns * std::exp(steps * fraction(random));
      lasting_.push_back({since, since + static_cast<std::uint64_t>(length), since});
    }
    double total = 0;
    for (Block& block : lasting_) {
      total += block.until <= now_ ? end(block, intervals, random, take) : walk(block, take);
    }
    std::erase_if(lasting_, [this](const Block& block) { return block.until <= now_; });
    return total;
  }

 private:
  static constexpr std::uint64_t kSecondNs = 1'000'000'000;
  struct Block {
    std::uint64_t since = 0, until = 0, counted = 0;
  };

  static double fraction(std::mt19937& random) {
    return static_cast<double>(random()) / 4294967296.0;
  }
  static std::uint64_t part_of(std::uint64_t whole, double part) {
    return static_cast<std::uint64_t>(static_cast<double>(whole) * part);
  }
  [[nodiscard]] offcpud_sample sample_of(const Block& block, std::uint64_t until) const {
    offcpud_sample sample = blocks_.sample();
    sample.since_ns = block.since;
    sample.ended_ns = until;
    sample.ns = sample.weight_ns = until - block.counted;
    return sample;
  }

  template <typename Take>
  double walk(Block& block, const Take& take) {
    if (now_ - block.since < 2 * OFFCPUD_IN_PROGRESS_AGE_NS) return 0;
    offcpud_sample sample = sample_of(block, now_);
    sample.flags |= OFFCPUD_SAMPLE_IN_PROGRESS;
    block.counted = now_;
    take(sample);
    return static_cast<double>(sample.ns);
  }

  // The whole length decides; the rest stands for its part of what the whole stands for.
  template <typename Take>
  double end(const Block& block, const SamplingIntervals& intervals, std::mt19937& random,
             const Take& take) {
    offcpud_sample sample = sample_of(block, block.until);
    const auto interval = static_cast<std::uint64_t>(intervals.of[stratum_of(sample)].count());
    const std::uint64_t length = block.until - block.since;
    sample.whole_ns = std::max(length, interval);
    sample.weight_ns =
        part_of(sample.ns, static_cast<double>(sample.whole_ns) / static_cast<double>(length));
    const bool taken =
        length >= interval ||
        offcpud_sample_chosen(length, interval, static_cast<std::uint32_t>(random())) != 0;
    if (taken) take(sample);
    return static_cast<double>(sample.ns);
  }

  Blocks blocks_;
  std::uint64_t now_ = kSecondNs;
  std::vector<Block> lasting_;
};

}  // namespace offcpud::test
