// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/wait_window.h"
#include "sampler/peer_names.h"
#include "sampler/window_paths.h"
#include "stacks/interval_chains.h"

namespace offcpud {

// Sums what those did for whom threads waited, by cgroup and by the path from one to the next. Used
// by one thread.
class ChainSums {
 public:
  static constexpr std::size_t kMostOfCgroup = 64;  // rows: the longest; the rest is Unknown

  // Both must outlive the object.
  ChainSums(WindowPaths& paths, PeerNames& names) : paths_(paths), names_(names) {}

  // Divides those of `waits` that are for something on which somebody can act, and whose peer's
  // thread is known. `is_whole`: no block is missing in the chains; otherwise nobody is said to
  // run.
  void add(std::span<const ChainedBlock> waits, const IntervalChains& chains, bool is_whole);

  std::vector<ChainWaits> take() &&;

 private:
  using Path = std::vector<std::pair<WaitFor, std::string>>;
  using Key = std::tuple<WaitFor, std::string, Path, ChainWaits::End>;

  WindowPaths& paths_;
  PeerNames& names_;
  std::map<std::string, std::map<Key, WaitTime>> rows_;  // by cgroup of the waiters
};

}  // namespace offcpud
