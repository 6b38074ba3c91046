// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_session.h"
#include "stacks/sample_choice.h"
#include "stacks/sampled_block.h"

namespace offcpud {

// The sampled blocks as the programs hand them over, and those that last. Used by one thread with
// CAP_BPF; the session must outlive it.
class BlockSamples {
 public:
  static Result<std::unique_ptr<BlockSamples>> open(const BpfSession& session);
  ~BlockSamples();
  BlockSamples(const BlockSamples&) = delete;
  BlockSamples& operator=(const BlockSamples&) = delete;

  // From now on.
  void choose(const SampleChoice& choice);

  // Hands over every waiting sample; returns how many.
  Result<std::uint64_t> drain(const std::function<void(const SampledBlock&)>& take);

  // Credits all blocks that last for some time up to now, and hands over what of each was not
  // credited before. A few microseconds per thread. The record's user stack is still to be walked.
  // `young`: also those that do not last long enough for that, which stay uncredited
  // (OFFCPUD_SAMPLE_YOUNG).
  Status walk_blocked(bool young, const std::function<void(const offcpud_blocked_record&)>& take);

  // Nanoseconds that samples stood for which were lost since the last call.
  std::uint64_t take_lost_ns();

 private:
  struct Open;
  BlockSamples(const BpfSession& session, std::unique_ptr<Open> open);
  static int on_event(void* self, void* data, std::size_t size);

  const BpfSession& session_;
  std::unique_ptr<Open> open_;
  const std::function<void(const SampledBlock&)>* take_ = nullptr;  // during drain()
  std::uint64_t taken_ = 0;
  std::uint64_t lost_ns_ = 0;  // at the last take_lost_ns()
};

// What the kernel calls functions of its own, of modules and of BPF programs, by return addresses:
// "schedule+0x2a/0x90", "nf_hook_slow+0x3c/0xa0 [nf_tables]"; an address that is none is shown as
// it is. Needs CAP_BPF. Single-threaded.
Result<std::vector<std::string>> kernel_names(const BpfSession& session,
                                              std::span<const std::uint64_t> addresses);

}  // namespace offcpud
