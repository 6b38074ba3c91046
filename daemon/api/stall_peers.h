// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "pipeline/stall.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// On whom the stalls of a View wait, by what the last window saw of their processes. The View must
// outlive the object.
class StallPeers {
 public:
  explicit StallPeers(const View& view);

  // Null: it has ended, or nobody knows; also where threads of its process wait for the same, but
  // on others.
  [[nodiscard]] const PeerWaits* of(const Stall& stall) const;
  // The same for a process, by what its threads wait for.
  [[nodiscard]] const PeerWaits* of(std::uint32_t pid, WaitFor wait_for) const;
  // Who holds the lock that it waits for; null: nobody can tell.
  [[nodiscard]] const HeldWait* held(const Stall& stall) const;
  [[nodiscard]] bool is_deadlocked(const HeldWait& held) const;

 private:
  const View& view_;
  // By pid and what for; null: several.
  std::map<std::pair<std::uint32_t, WaitFor>, const PeerWaits*> rows_;
};

}  // namespace offcpud
