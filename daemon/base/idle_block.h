// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/hist_kind.h"
#include "base/wait_for.h"

namespace offcpud {

// Whether a thread waits for its own child, as a shell waits for its command. The child's own waits
// show what that is for.
constexpr bool is_for_own_child(std::size_t reason, WaitFor wait_for) {
  return reason == OFFCPUD_BLOCKED_CHILD && wait_for == WaitFor::Answer;
}

// Whether a sampled block is left out where only waits that may delay somebody are shown. What the
// block is for decides; if nobody can tell, its reason does. The page has the same rule
// (daemon/page/script/idle.js). `kernel_thread`: the stack has no user part; most kernel threads
// wait for work.
constexpr bool is_idle_block(std::size_t reason, WaitFor wait_for, bool kernel_thread) {
  if (wait_for != WaitFor::Unknown) {
    return is_idle(wait_for) || is_for_own_child(reason, wait_for);
  }
  return is_idle_prone(reason) || (reason == OFFCPUD_BLOCKED_KERNEL && kernel_thread);
}

}  // namespace offcpud
