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

// Functions of the kernel by return address. It remembers them for a while, as most stacks have
// the same ones; not for long, as another module may get the memory of one that was removed.
// Used by one thread; the source must outlive it.
class KernelFrames {
 public:
  using Names = std::unordered_map<std::uint64_t, StackFrame>;

  explicit KernelFrames(StackSource& kernel) : kernel_(kernel) {}

  // The frames of these addresses. Error: the kernel did not say the names of some, which are
  // missing from `names`.
  Status name(const std::unordered_set<std::uint64_t>& addresses, MonotonicTime now, Names& names);

 private:
  static constexpr std::size_t kMost = 16'384;
  static constexpr std::chrono::minutes kKeptFor{5};

  StackSource& kernel_;
  Names known_;
  MonotonicTime forgotten_{};
};

}  // namespace offcpud
