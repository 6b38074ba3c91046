// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "pipeline/wait_window.h"
#include "sampler/window_paths.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Sums the time within a window by process, cgroup, site, and what its threads waited for.
class SiteSums {
 public:
  // `paths` must outlive the object.
  explicit SiteSums(WindowPaths& paths) : paths_(paths) {}

  // Adds a share of blocks that ended.
  void add(const WaitSum& sum, const ExaminedWait& wait, double share);
  // Adds a block. `wait` null: nobody knows what it is for. `comm`: of its process, if known.
  void add(const SeenBlock& block, const ExaminedWait* wait, std::string_view comm);
  // Adds blocks of processes of a cgroup that found no room.
  void add_unknown(std::uint64_t cgroup_id, const WaitTime& time);

  std::vector<SiteWaits> take() &&;

 private:
  struct Process {
    std::uint32_t pid = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t cgroup_id = 0;
  };
  SiteWaits& of(const Process& process, const ExaminedWait* wait);

  WindowPaths& paths_;
  // By process, cgroup, what for and site.
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::string, WaitFor, std::string>, SiteWaits>
      sums_;
};

}  // namespace offcpud
