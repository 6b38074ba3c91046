// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "holders/deadlocks.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// Who held locks at the end of a window, and what they did then. It is kept when the rest of the
// window is forgotten. For each waiting cgroup, holding cgroup and `for`, it has one holder, and
// one more of Python's GIL: one in a deadlock if there is one, else the one for whom most threads
// waited. It also has the holders for whom these waited.
struct PastHolders {
  // Beyond this, those for whom the fewest threads waited are left out.
  static constexpr std::size_t kMost = 256;
  // From holder to holder, as far as `why` tells.
  static constexpr std::size_t kMostHops = 4;
  // Deadlocks of more threads are not kept.
  static constexpr std::size_t kMostOfDeadlock = 32;

  WaitWindow window;  // only `held`, and the holders' `peers` and `blocks`, without stacks
  std::vector<Deadlock> deadlocks;

  [[nodiscard]] std::size_t bytes() const;  // about
};

// Null: no holder was known.
std::shared_ptr<const PastHolders> past_holders(const std::shared_ptr<const WaitWindow>& window,
                                                const std::vector<Deadlock>* deadlocks);

}  // namespace offcpud
