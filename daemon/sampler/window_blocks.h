// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "pipeline/wait_window.h"
#include "sampler/examined_stack.h"
#include "sampler/peer_sums.h"
#include "sampler/site_sums.h"
#include "sampler/unheld_sums.h"
#include "sampler/window_paths.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Sums up the blocks that are in progress at the end of a window and whose stacks are known, and
// says who holds the locks for which they wait. Used by one thread.
class WindowBlocks {
 public:
  // All must outlive it.
  WindowBlocks(const WaitInterval& interval, WindowPaths& paths, SiteSums& sites, PeerSums& peers)
      : interval_(interval), paths_(paths), sites_(sites), peers_(peers) {}

  // Adds a block, of which evidence says `verdict`. Returns what it is for: if somebody is known to
  // hold a lock for which it waits, it is for a lock, whatever its functions are called.
  std::shared_ptr<const ExaminedWait> add(const SeenBlock& block, ExaminedStack& stack,
                                          const EvidenceVerdict& verdict);

  // Adds what was found out of holders, also of Python's GIL.
  void take(WaitWindow& window) &&;

 private:
  void add_gil_waits();

  const WaitInterval& interval_;
  WindowPaths& paths_;
  SiteSums& sites_;
  PeerSums& peers_;
  std::vector<HeldWait> held_;
  UnheldSums unheld_;
};

}  // namespace offcpud
