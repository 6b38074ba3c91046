// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "sample.h"
#include "unwind/remote_walk.h"

namespace offcpud {

// User stacks of threads that are blocked, walked from outside: once per block, as a thread that is
// blocked does not move. Single-threaded.
class BlockedStacks {
 public:
  // `lookup` must outlive the object; null: nothing is walked.
  explicit BlockedStacks(const UnwindLookup* lookup) : lookup_(lookup) {}

  // Valid until the next call. Costs some 10 us the first time. Needs CAP_SYS_PTRACE for processes
  // of others.
  const RemoteStack& stack_of(const offcpud_blocked_record& record);

  // Forgets the blocks that were not asked for since the last call.
  void end_walk();

 private:
  // Of all that are remembered: 30,000 stacks of 100 frames, or 100,000 of 20.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  struct Known {
    RemoteStack stack;
    bool used = true;
  };
  [[nodiscard]] static std::size_t bytes_of(const RemoteStack& stack);

  const UnwindLookup* lookup_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Known> known_;  // by tid and beginning
  std::size_t bytes_ = 0;
  RemoteStack last_;  // beyond kMostBytes
};

}  // namespace offcpud
