// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stacks/stack_sums.h"

namespace offcpud {

// Knows which files processes map, and so what is at their addresses. An interface, so that tests
// can replace the host's processes. Used by one thread.
class AddressLocator {
 public:
  virtual ~AddressLocator() = default;

  // Applies what has happened since the last call. Call it before samples are located, and several
  // times a second.
  virtual void follow() = 0;

  // Forgets the processes that had ended by the last call; their samples must have been located.
  virtual void forget_ended() = 0;

  // Locates addresses of the process at that time, innermost first.
  [[nodiscard]] virtual std::vector<LocatedFrame> locate(
      std::uint32_t tgid, std::uint64_t when_ns, std::span<const __u64> addresses) const = 0;
};

}  // namespace offcpud
