// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sample.h"
#include "stacks/interpreted_stack.h"

namespace offcpud {

// One sampled block with its stacks, valid as long as the record from which it was read. Addresses
// are those of instructions, innermost first.
struct SampledBlock {
  offcpud_sample sample{};
  offcpud_peer peer{};
  std::span<const __u64> kernel, user, waker_kernel, waker_user;
  // What the thread that ended the block did before, then what the one that it waited for did, and
  // so on; empty: not recorded.
  std::span<const offcpud_past> past{};
  // The functions that an interpreter runs in frames of `user`; null: none is known.
  std::shared_ptr<const InterpretedStack> interpreted{};

  // Distinguishes stacks with equal addresses.
  [[nodiscard]] std::uint64_t interpreted_id() const { return interpreted ? interpreted->id : 0; }
  [[nodiscard]] std::size_t interpreted_bytes() const {
    return interpreted ? interpreted->bytes() : 0;
  }
};

// Whether the block had not ended when it was sampled, so that nobody had woken the thread.
inline bool is_in_progress(const offcpud_sample& sample) {
  return (sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS) != 0;
}

// `frames` contains the stacks one after the other, as in the record. Counts that exceed it are
// reduced.
inline SampledBlock sampled_block(const offcpud_sample& sample, const offcpud_peer& peer,
                                  std::span<const __u64> frames) {
  SampledBlock block;
  block.sample = sample;
  block.peer = peer;
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

// A copy that outlives the record.
class KeptSample {
 public:
  explicit KeptSample(const SampledBlock& block) : sample_(block.sample), peer_(block.peer) {
    for (const auto stack : {block.kernel, block.user, block.waker_kernel, block.waker_user}) {
      frames_.insert(frames_.end(), stack.begin(), stack.end());
    }
    past_.assign(block.past.begin(), block.past.end());
  }

  [[nodiscard]] SampledBlock block() const {
    SampledBlock block = sampled_block(sample_, peer_, frames_);
    block.past = past_;
    return block;
  }

 private:
  offcpud_sample sample_;
  offcpud_peer peer_;
  std::vector<__u64> frames_;
  std::vector<offcpud_past> past_;
};

}  // namespace offcpud
