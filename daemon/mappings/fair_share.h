// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace offcpud {

// Who holds how much of something that all processes share. Processes whose user is not known are
// taken for one user's.
struct ShareHolder {
  std::uint32_t tgid = 0;
  std::optional<std::uint32_t> uid;
  std::uint64_t held = 0;
};

// The process that has to give back what it holds, so that `wants` (what it would hold then) gets
// it: the largest one of the user who holds most. Nothing: that would be `wants` itself, who goes
// without. docs/decisions/0015-shares-of-mappings.md says why. `holders` may contain `wants`.
std::optional<std::uint32_t> who_gives_way(std::span<const ShareHolder> holders,
                                           const ShareHolder& wants);

// The real user of a process, by its number in the initial user namespace if that is ours: who
// started it, also where it is set-user-ID or not dumpable. 25 us. Nothing: it is gone.
std::optional<std::uint32_t> real_uid_of(std::uint32_t tgid);

// A process of which not everything is kept.
struct OverShare {
  std::uint32_t tgid = 0;
  std::optional<std::uint32_t> uid;
  std::uint64_t mappings = 0;  // executable ones, as far as they are known

  bool operator==(const OverShare&) const = default;
};

}  // namespace offcpud
