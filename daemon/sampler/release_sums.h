// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/released_waits.h"
#include "sampler/peer_names.h"
#include "sampler/window_paths.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Sums the waits for locks that ended within a window: by the thread that ended them, the cgroup of
// who waited, and the site. Used by one thread.
class ReleaseSums {
 public:
  // The most threads of one place, besides "others", and the most rows of all places together. If
  // there are more, the places with least time are left out.
  static constexpr std::size_t kMostOfPlace = 8, kMostOfAll = 256;

  // Both must outlive the object.
  ReleaseSums(WindowPaths& paths, PeerNames& names) : paths_(paths), names_(names) {}

  // A wait for a lock at this site. One whose beginning was not seen does not count.
  void add(const EndedBlock& block, std::uint64_t cgroup_id, const std::string& site);

  std::vector<ReleasedWaits> take() &&;

 private:
  using Place = std::pair<std::string, std::string>;  // cgroup and site
  // Process, its start, and thread; zeros: nobody.
  using Releaser = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;

  WindowPaths& paths_;
  PeerNames& names_;
  std::map<Place, std::map<Releaser, ReleasedWaits>> places_;
};

}  // namespace offcpud
