// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace offcpud {

// How much of a shared resource a process holds. Processes of unknown users count as one user's.
struct ShareHolder {
  std::uint32_t tgid = 0;
  std::optional<std::uint32_t> uid;
  std::uint64_t held = 0;
};

// The process that must give up what it holds, so that `wants` gets more: the largest process of
// the user who holds most. `wants.held`: what `wants` would hold then. Nothing: `wants` is that
// process itself, and gets no more. `holders` may contain `wants`. Why:
// docs/decisions/0015-shares-of-mappings.md.
std::optional<std::uint32_t> who_gives_way(std::span<const ShareHolder> holders,
                                           const ShareHolder& wants);

// The real user of a process, as numbered in the daemon's user namespace: who started it, even if
// it is set-user-ID or not dumpable. Takes 25 us. Nothing: the process is gone.
std::optional<std::uint32_t> real_uid_of(std::uint32_t tgid);

// A process whose mappings are not all kept.
struct OverShare {
  std::uint32_t tgid = 0;
  std::optional<std::uint32_t> uid;
  std::uint64_t mappings = 0;  // known executable ones

  bool operator==(const OverShare&) const = default;
};

}  // namespace offcpud
