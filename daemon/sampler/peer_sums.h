// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/wait_window.h"
#include "sampler/peer_names.h"
#include "sampler/window_paths.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Sums the time within a window by process, by what its threads waited for, and by whom or what
// they waited on. Summed over all peers, it equals what EndedWaits and SiteWaits have.
class PeerSums {
 public:
  // The longest rows of a cgroup, this many, name both processes. The rest is summed by whom it
  // waited on, in as many rows again, and what then remains is in "(other)".
  static constexpr std::size_t kMostOfCgroup = 256;

  // Both must outlive the object.
  PeerSums(WindowPaths& paths, PeerNames& names) : paths_(paths), names_(names) {}

  // A share of blocks that ended. `otherwise`: whom they waited on if nobody was seen; may be null.
  void add(const WaitSum& sum, WaitFor wait_for, double share, const WaitPeer* otherwise = nullptr);
  // A block that lasts, or was long. `holder`: of the lock that it waits for; may be null.
  void add(const SeenBlock& block, WaitFor wait_for, const LockHolder* holder);
  // Blocks of a cgroup that found no room.
  void add_unknown_ended(std::uint64_t cgroup_id, const WaitTime& ended);
  void add_unknown(std::uint64_t cgroup_id, const WaitTime& within);

  std::vector<PeerWaits> take() &&;

 private:
  struct Waiter {
    std::uint32_t pid = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t cgroup_id = 0;
  };
  using Rows = std::map<
      std::tuple<std::uint32_t, std::uint64_t, WaitFor, std::string, std::uint32_t, std::uint64_t>,
      PeerWaits>;

  PeerWaits& of(const Waiter& waiter, WaitFor wait_for, const WaitPeer& peer);
  PeerWaits& of_unknown(std::uint64_t cgroup_id);

  WindowPaths& paths_;
  PeerNames& names_;
  std::map<std::string, Rows> rows_;  // by cgroup of the waiters
};

}  // namespace offcpud
