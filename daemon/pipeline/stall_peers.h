// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "holders/deadlocks.h"
#include "pipeline/stall.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// Says on whom stalls wait. Of a stall in progress one window tells this; of one that has ended,
// its record. Immutable.
class StallPeers {
 public:
  // Both may be null.
  explicit StallPeers(std::shared_ptr<const WaitWindow> waits,
                      const std::vector<Deadlock>* deadlocks = nullptr);
  // Uses the last window of the View.
  explicit StallPeers(const View& view) : StallPeers(view.waits, view.deadlocks.get()) {}

  // Null: unknown, or threads of its process wait on several peers for the same thing.
  [[nodiscard]] const PeerWaits* of(const Stall& stall) const;
  // The same for a process, by what its threads wait for.
  [[nodiscard]] const PeerWaits* of(std::uint32_t pid, WaitFor wait_for) const;
  // Who holds the lock that it waits for; null: nobody can tell.
  [[nodiscard]] const HeldWait* held(const Stall& stall) const;
  // Whether that lock is one of a deadlock.
  [[nodiscard]] bool is_deadlocked(const Stall& stall) const;
  [[nodiscard]] bool is_deadlocked(const HeldWait& held) const {
    return deadlocked_.contains(held.tid);
  }

  // Writes all this into the record of a stall in progress, if the window has its block. What the
  // window does not know stays as an earlier one had it.
  void note_in(Stall& stall) const;

 private:
  std::shared_ptr<const WaitWindow> waits_;
  std::set<std::uint32_t> deadlocked_;  // threads
  // By pid and what for; null: several.
  std::map<std::pair<std::uint32_t, WaitFor>, const PeerWaits*> rows_;
};

}  // namespace offcpud
