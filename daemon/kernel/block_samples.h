// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_session.h"
#include "stacks/stack_source.h"

namespace offcpud {

// The kernel's sampled blocks, and the blocked threads of a walk. Used by one thread with CAP_BPF;
// the session must outlive it.
class BlockSamples final : public StackSource {
 public:
  static Result<std::unique_ptr<BlockSamples>> open(const BpfSession& session);
  ~BlockSamples() override;
  BlockSamples(const BlockSamples&) = delete;
  BlockSamples& operator=(const BlockSamples&) = delete;

  [[nodiscard]] bool has_hooks() const override;
  void choose(const SampleChoice& choice) override;
  Result<std::uint64_t> drain(const std::function<void(const SampledBlock&)>& take) override;
  // Takes a few microseconds per thread.
  Status walk_blocked(BlockAge age,
                      const std::function<void(const offcpud_blocked_record&)>& take) override;
  Status look_at(std::uint32_t local_tgid,
                 const std::function<void(const offcpud_blocked_record&)>& take) override;
  Result<std::shared_ptr<const SocketTable>> walk_sockets(std::chrono::nanoseconds budget) override;
  // Walks over all threads.
  Result<std::vector<offcpud_owner>> find_owners(std::span<const std::uint64_t> keys) override;
  LostSamples take_lost() override;
  Result<std::vector<std::string>> kernel_names(std::span<const std::uint64_t> addresses) override;

 private:
  struct Open;
  BlockSamples(const BpfSession& session, std::unique_ptr<Open> open);
  static int on_event(void* self, void* data, std::size_t size);

  const BpfSession& session_;
  std::unique_ptr<Open> open_;
  const std::function<void(const SampledBlock&)>* take_ = nullptr;  // during drain()
  std::uint64_t taken_ = 0;
  LostSamples lost_;  // since the start, as of the last take_lost()
};

}  // namespace offcpud
