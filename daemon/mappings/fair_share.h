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

// The process that must give back its share so that `wants` gets what it wants (`wants.held`: what
// it would then hold): the largest process of the user who holds most. Nothing: that process is
// `wants` itself, which then gets no more. docs/decisions/0015-shares-of-mappings.md says why.
// `holders` may contain `wants`.
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
