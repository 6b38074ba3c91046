// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/share_slots.h"
#include "pipeline/stall_id.h"

namespace offcpud {

// Knows who holds the records of untold blocks. When there is no room, the largest process of the
// cgroup with most records loses its oldest one. So the many idle threads of one program cannot
// hide what another program of the cgroup waits for, nor can those of one cgroup hide other
// cgroups. Used by one thread.
class UntoldShares {
 public:
  explicit UntoldShares(std::size_t most) : slots_(most) {}

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] bool is_full() const { return slots_.is_full(); }

  // The record to give back so that this process gets one more. Nothing: the process gets none, but
  // keeps the records that it has. `tgid` in the initial PID namespace.
  [[nodiscard]] std::optional<StallId> who_gives_way(std::uint64_t cgroup_id,
                                                     std::uint32_t tgid) const;
  // Call it only while one is free. A process counts in the cgroup of its first record.
  void hold(const StallId& id, std::uint64_t cgroup_id, std::uint32_t tgid);
  // `id` must be held.
  void give_back(const StallId& id);

 private:
  struct Held {
    ShareSlots::Slot slot;
    std::uint64_t cgroup_id;
  };
  struct Cgroup {
    std::uint32_t number = 0;  // in place of a user, for ShareSlots
    std::size_t held = 0;
  };
  ShareSlots slots_;
  std::vector<StallId> by_slot_;
  std::map<StallId, Held> held_;
  std::map<std::uint64_t, Cgroup> cgroups_;  // that hold records
  std::uint32_t last_number_ = 0;
};

}  // namespace offcpud
