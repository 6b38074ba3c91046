// SPDX-License-Identifier: Apache-2.0
// Records of sampled blocks, whose counts may promise more frames than there are, and their sums.
#include <cstring>

#include "fuzz.h"
#include "stacks/block_share.h"
#include "stacks/sampled_block.h"
#include "stacks/stack_sums.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  auto budget = std::make_shared<ByteBudget>(64 << 10);
  std::uint64_t total = 0, samples = 0;
  {
    StackSums stacks(8, budget);
    while (!in.at_end() && samples < 64) {
      auto sample = in.take<offcpud_sample>();
      sample.weight_ns >>= 8U;  // sums of real ones do not wrap
      std::vector<__u64> frames(in.take<std::uint8_t>() % 32);
      for (__u64& frame : frames) frame = in.take<std::uint16_t>();
      const SampledBlock block = sampled_block(sample, {}, frames);
      require(block.kernel.size() + block.user.size() + block.waker_kernel.size() +
                      block.waker_user.size() <=
                  frames.size(),
              "stacks are within the record");
      BlockFilter filter;
      filter.min_ns = in.take<std::uint8_t>();
      (void)weight_alone(sample, filter, sample.since_ns);
      (void)weight_in_series(sample, filter, 0);
      (void)stacks.add(block);
      ++samples;
      total += sample.weight_ns;
    }
    const StackSums::Drained drained = stacks.drain();
    require(drained.sums.size() <= 8, "no more stacks are kept than allowed");
    std::uint64_t sum = drained.overflow_ns;
    for (const BlockSum& block : drained.sums) sum += block.ns;
    require(sum == total, "no time is lost");
  }
  require(budget->left() == 64 << 10, "the memory is given back");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const int frames : {0, 3, 40, 65535}) {
    offcpud_sample sample{};
    sample.ns = sample.weight_ns = 1'000'000;
    sample.ended_ns = 2'000'000;
    sample.since_ns = 1'000'000;
    sample.kernel_frames = sample.user_frames = static_cast<decltype(sample.user_frames)>(frames);
    std::string input(reinterpret_cast<const char*>(&sample), sizeof sample);
    input += std::string(1, '\x08') + "0123456789abcdef" + "\1";
    all.push_back(input + input + input);
  }
  return all;
}

}  // namespace offcpud::fuzz
