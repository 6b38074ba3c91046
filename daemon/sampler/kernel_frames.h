// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/result.h"
#include "snapshot/snapshot.h"
#include "stacks/stack_source.h"

namespace offcpud {

// Names the kernel's functions by return address. Remembers names for a while, because most stacks
// have the same functions; not for long, because another module may get the memory of a removed
// one. Used by one thread; the source must outlive it.
class KernelFrames {
 public:
  using Names = std::unordered_map<std::uint64_t, StackFrame>;

  explicit KernelFrames(StackSource& kernel) : kernel_(kernel) {}

  // Adds the frames of these addresses to `names`. Error: the kernel did not name some of them;
  // those are missing.
  Status name(const std::unordered_set<std::uint64_t>& addresses, MonotonicTime now, Names& names);

 private:
  static constexpr std::size_t kMost = 16'384;
  static constexpr std::chrono::minutes kKeptFor{5};

  StackSource& kernel_;
  Names known_;
  MonotonicTime forgotten_{};
};

}  // namespace offcpud
