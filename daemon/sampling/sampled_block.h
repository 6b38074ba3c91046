// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sample.h"

namespace offcpud {

// One sampled block with its stacks; valid while the record that it was read from is. Addresses of
// instructions, innermost first.
struct SampledBlock {
  offcpud_sample sample{};
  std::span<const __u64> kernel, user, waker_kernel, waker_user;
};

// `frames` are the stacks one after the other, as in the record. What a record says beyond its end
// is cut off.
inline SampledBlock sampled_block(const offcpud_sample& sample,
                                  std::span<const __u64> frames) {
  SampledBlock block{.sample = sample};
  const auto take = [&frames](std::size_t count) {
    const auto stack = frames.first(std::min(count, frames.size()));
    frames = frames.subspan(stack.size());
    return stack;
  };
  block.kernel = take(sample.kernel_frames);
  block.user = take(sample.user_frames);
  block.waker_kernel = take(sample.waker_kernel_frames);
  block.waker_user = take(sample.waker_user_frames);
  return block;
}

}  // namespace offcpud
