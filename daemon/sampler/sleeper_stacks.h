// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "reader/process_memory.h"
#include "sample.h"
#include "unwind/remote_walk.h"

namespace offcpud {

// User stacks of blocked threads, walked from outside of their processes. A blocked thread does not
// move, so a stack that was walked to its root is kept until the block ends, if there is room; any
// other is walked again. Single-threaded.
class SleeperStacks {
 public:
  // Limits all remembered stacks together: 18,000 of 100 frames, or 70,000 of 20.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  // Both must outlive the object. `lookup` null: stacks are not walked.
  SleeperStacks(const UnwindLookup* lookup, ProcessMemory& memory)
      : lookup_(lookup), memory_(memory) {}

  // Reads the innermost part of these blocks' stacks, in one request. Skips known stacks.
  void read_ahead(std::span<const offcpud_blocked_record> records);

  // The stack of this block, valid until the next call. Takes some 10 us the first time.
  const RemoteStack& stack_of(const offcpud_blocked_record& record);

  // Forgets the blocks for which stack_of() was not called since the last end_walk().
  void end_walk();

 private:
  struct Known {
    RemoteStack stack;
    bool used = true;
  };
  [[nodiscard]] static std::size_t bytes_of(const RemoteStack& stack);
  RemoteStack walk(const offcpud_blocked_record& record);

  const UnwindLookup* lookup_;
  ProcessMemory& memory_;
  std::vector<std::byte> ahead_;  // bytes from read_ahead()
  // Parts of ahead_, by the key of known_.
  std::map<std::pair<std::uint32_t, std::uint64_t>, MemoryPiece> pieces_;
  // By tid and beginning of the block.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Known> known_;
  std::size_t bytes_ = 0;
  RemoteStack last_;  // the last stack, if kMostBytes has no room for it
};

}  // namespace offcpud
