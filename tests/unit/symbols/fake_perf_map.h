// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>

#include "support/temp_tree.h"
#include "symbols/perf_maps.h"

namespace offcpud {

// A process as in /proc, with a perf map and a start of as many ticks as its number.
inline PerfMaps::Process put_perf_map(TempTree& proc, std::uint32_t pid, const std::string& map) {
  const std::string name = std::to_string(pid);
  std::string stat = name + " (node) S";
  for (int field = 4; field < 22; ++field) stat += " 0";
  const std::string uid = std::to_string(::geteuid());
  proc.put(
      {{name + "/stat", stat + " " + name + " 0\n"},
       {name + "/status", "Name:\tnode\nUid:\t" + uid + "\t" + uid + "\nNSpid:\t" + name + "\n"},
       {name + "/root/tmp/perf-" + name + ".map", map}});
  return {pid, pid * (1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)))};
}

}  // namespace offcpud
