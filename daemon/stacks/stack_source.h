// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "stacks/sample_choice.h"
#include "stacks/sampled_block.h"

namespace offcpud {

// Which blocks in progress a walk over the blocked threads hands over.
enum class BlockAge : std::uint8_t {
  Lasting,  // those that have lasted for OFFCPUD_IN_PROGRESS_AGE_NS
  Any,      // also the younger ones, flagged with OFFCPUD_SAMPLE_YOUNG
};

// What the kernel tells about sampled blocks. Seam: unit tests stand in for the kernel here. Used
// by one thread.
class StackSource {
 public:
  virtual ~StackSource() = default;

  // Whether the kernel can tell of blocks and wakeups. If not, choose() is of no use.
  [[nodiscard]] virtual bool has_hooks() const = 0;

  // Which blocks are sampled from now on.
  virtual void choose(const SampleChoice& choice) = 0;

  // Hands over every sample that waits. Returns how many.
  virtual Result<std::uint64_t> drain(const std::function<void(const SampledBlock&)>& take) = 0;

  // Accounts all blocks that last up to now, and hands over of each the part that was not accounted
  // before. Younger ones are handed over whole and not accounted: their end tells all of them once
  // more. User stacks are still to be walked.
  virtual Status walk_blocked(BlockAge age,
                              const std::function<void(const offcpud_blocked_record&)>& take) = 0;

  // Nanoseconds that samples stood for which were lost since the last call.
  virtual std::uint64_t take_lost_ns() = 0;

  // What the kernel calls functions of its own, of modules and of BPF programs, by return
  // addresses: "schedule+0x2a/0x90", "nf_hook_slow+0x3c/0xa0 [nf_tables]". An address that is none
  // is shown as it is.
  virtual Result<std::vector<std::string>> kernel_names(
      std::span<const std::uint64_t> addresses) = 0;
};

}  // namespace offcpud
