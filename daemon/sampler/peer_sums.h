// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "peers/device_names.h"
#include "pipeline/wait_window.h"
#include "sampler/window_paths.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Sums the time within a window by process, by what its threads waited for, and by whom or what
// they waited on. Summed over the last, it equals what EndedWaits and SiteWaits have.
class PeerSums {
 public:
  // Rows of one cgroup: the longest; the rest is "(other)".
  static constexpr std::size_t kMostOfCgroup = 256;

  // Both must outlive the object.
  PeerSums(WindowPaths& paths, DeviceNames& devices) : paths_(paths), devices_(devices) {}

  // A share of blocks that ended.
  void add(const WaitSum& sum, WaitFor wait_for, double share);
  // A block that lasts, or was long.
  void add(const SeenBlock& block, WaitFor wait_for);
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
  struct Unit {
    std::string cgroup, name;
  };
  using Rows = std::map<
      std::tuple<std::uint32_t, std::uint64_t, WaitFor, std::string, std::uint32_t, std::uint64_t>,
      PeerWaits>;

  PeerWaits& of(const Waiter& waiter, WaitFor wait_for, const WaitPeer& peer);
  PeerWaits& of_unknown(std::uint64_t cgroup_id);
  const Unit& unit_of(std::uint64_t cgroup_id);

  WindowPaths& paths_;
  DeviceNames& devices_;
  std::unordered_map<std::uint64_t, Unit> units_;  // by cgroup
  std::map<std::string, Rows> rows_;               // by cgroup of the waiters
};

}  // namespace offcpud
