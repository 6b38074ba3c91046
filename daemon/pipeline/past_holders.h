// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "holders/deadlocks.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// Who held locks at the end of a window, and what they did then. Kept when the rest of the window
// is forgotten. Of each two cgroups and what for, one holder: the one for whom most threads of the
// first cgroup waited; one in a deadlock comes first. And those for whom such holders waited.
struct PastHolders {
  // More are left out: those for whom the fewest threads waited.
  static constexpr std::size_t kMost = 256;
  // From holder to holder, as far as `why` tells.
  static constexpr std::size_t kMostHops = 4;
  // Deadlocks of more threads are not kept.
  static constexpr std::size_t kMostOfDeadlock = 32;

  WaitWindow window;  // its `held`, and of the holders `blocks` without stacks, and `peers`
  std::vector<Deadlock> deadlocks;

  [[nodiscard]] std::size_t bytes() const;  // about
};

// Null: no holder was known.
std::shared_ptr<const PastHolders> past_holders(const std::shared_ptr<const WaitWindow>& window,
                                                const std::vector<Deadlock>* deadlocks);

}  // namespace offcpud
