// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "offcpud.h"

namespace offcpud {

// Remembers of each process and reason whether a block was idle when its stack was last examined.
// So a driver's thread that waits uninterruptibly for work (reason `kernel`) is not taken for stuck
// while a busy host leaves no time to examine stacks. Used by one thread.
class IdlePasts {
 public:
  static constexpr std::size_t kMaxProcesses = 16'384;               // those beyond have no past
  static constexpr std::uint64_t kForgottenAfter = 600'000'000'000;  // ns without an examined block

  // A stack of this process was examined. `tgid` in the initial PID namespace; `kind` is blocked;
  // `now_ns` never goes back.
  void note(std::uint32_t tgid, std::uint32_t kind, bool idle, std::uint64_t now_ns);
  // Whether the last block of this kind that was examined was idle.
  [[nodiscard]] bool was_idle(std::uint32_t tgid, std::uint32_t kind, std::uint64_t now_ns) const;
  // Call now and then: forgets what is old, so that a reused id starts anew and room comes back.
  void forget_old(std::uint64_t now_ns);

  [[nodiscard]] std::size_t processes() const { return processes_.size(); }

 private:
  struct Past {
    std::uint32_t idle_kinds = 0;  // bits
    std::uint64_t noted_ns = 0;    // CLOCK_MONOTONIC
  };
  static_assert(OFFCPUD_BLOCKED_KINDS <= 32);

  std::unordered_map<std::uint32_t, Past> processes_;
};

}  // namespace offcpud
