// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stacks/stack_sums.h"

namespace offcpud {

// Follows which files processes map, and so knows what lies at their addresses. Seam: unit tests
// stand in for the processes of the host here. Used by one thread.
class AddressLocator {
 public:
  virtual ~AddressLocator() = default;

  // Takes over what has happened: before samples are located, and several times a second.
  virtual void follow() = 0;

  // Processes that had ended by the last call are forgotten: their samples have been located.
  virtual void forget_ended() = 0;

  // Addresses of the process at that time, innermost first.
  [[nodiscard]] virtual std::vector<LocatedFrame> locate(
      std::uint32_t tgid, std::uint64_t when_ns, std::span<const __u64> addresses) const = 0;
};

}  // namespace offcpud
